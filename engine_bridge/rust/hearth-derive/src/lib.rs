// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `#[derive(Observation)]` and `#[derive(Action)]` of the crate `hearth`, which documents them.
//! Without `syn` and `quote`, so that the workspace builds without downloads.

use proc_macro::{Delimiter, TokenStream, TokenTree};
use std::fmt::Write;
use std::iter::Peekable;

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

struct Field {
    name: String,
    type_: String,
    kind: Option<String>,
    /// JSON members.
    options: String,
}

enum Item {
    Struct(String, Vec<Field>),
    Enum(String, Vec<String>),
}

#[proc_macro_derive(Observation, attributes(hearth))]
pub fn derive_observation(item: TokenStream) -> TokenStream {
    emit(item, |item| match item {
        Item::Struct(name, fields) => Ok(observation(name, fields)),
        Item::Enum(name, _) => Err(format!(
            "{name} is an enum: observe its index as a u32 with #[hearth(n = COUNT)]"
        )),
    })
}

#[proc_macro_derive(Action, attributes(hearth))]
pub fn derive_action(item: TokenStream) -> TokenStream {
    emit(item, |item| match item {
        Item::Struct(name, fields) => Ok(action(name, fields)),
        Item::Enum(name, variants) => Ok(choice(name, variants)),
    })
}

fn emit(item: TokenStream, write: impl Fn(&Item) -> Result<String, String>) -> TokenStream {
    let text = parse(item)
        .and_then(|item| write(&item))
        .unwrap_or_else(|error| format!("::core::compile_error!({error:?});"));
    text.parse().expect("the macro wrote Rust")
}

/// The sum of the sizes of fields, as a constant expression.
fn size(fields: &[Field], field_trait: &str) -> String {
    fields.iter().fold("0".into(), |sum, field| {
        format!("{sum} + <{} as ::hearth::{field_trait}>::SIZE", field.type_)
    })
}

/// A function `fields` that returns the fields' JSON.
fn field_list(fields: &[Field], field_trait: &str) -> String {
    let list = fields.iter().fold(String::new(), |list, field| {
        let Field {
            name,
            type_,
            kind,
            options,
        } = field;
        format!(
            "{list} <{type_} as ::hearth::{field_trait}>::field({name:?}, ::core::option::Option::{}, \
             {options:?}),",
            kind.as_ref().map_or("None".into(), |kind| format!("Some({kind:?})"))
        )
    });
    format!(
        "fn fields() -> ::std::string::String {{
             ::std::format!(\"[{{}}]\", [{list}].join(\", \"))
         }}"
    )
}

fn observation(name: &str, fields: &[Field]) -> String {
    let mut writes = String::new();
    for Field { name, type_, .. } in fields {
        let _ = write!(
            writes,
            "let (part, rest) = to.split_at_mut(<{type_} as ::hearth::ObservationField>::SIZE);
             ::hearth::ObservationField::write(&self.{name}, part);
             let to = rest;"
        );
    }
    format!(
        "impl ::hearth::Observation for {name} {{
             const SIZE: usize = {};
             {}
             fn write(&self, to: &mut [f32]) {{ {writes} let _ = to; }}
         }}",
        size(fields, "ObservationField"),
        field_list(fields, "ObservationField")
    )
}

fn action(name: &str, fields: &[Field]) -> String {
    let mut reads = String::new();
    let mut members = String::new();
    for Field { name, type_, .. } in fields {
        let _ = write!(
            reads,
            "let (part, from) = from.split_at(<{type_} as ::hearth::ActionField>::SIZE);
             let field_{name} = ::hearth::ActionField::read(part);"
        );
        let _ = write!(members, "{name}: field_{name},");
    }
    format!(
        "impl ::hearth::Action for {name} {{
             const SIZE: usize = {};
             {}
             fn read(from: &[f32]) -> Self {{ {reads} let _ = from; Self {{ {members} }} }}
         }}",
        size(fields, "ActionField"),
        field_list(fields, "ActionField")
    )
}

fn choice(name: &str, variants: &[String]) -> String {
    let arms = variants
        .iter()
        .enumerate()
        .fold(String::new(), |arms, (i, v)| {
            if i + 1 == variants.len() {
                format!("{arms} _ => Self::{v},")
            } else {
                format!("{arms} {i} => Self::{v},")
            }
        });
    format!(
        "impl ::hearth::ActionField for {name} {{
             const SIZE: usize = 1;
             fn field(name: &str, _: ::core::option::Option<&str>, options: &str)
                     -> ::std::string::String {{
                 ::hearth::spec::discrete(name, {}, options)
             }}
             fn read(from: &[f32]) -> Self {{ match from[0] as u32 {{ {arms} }} }}
         }}
         impl ::hearth::Action for {name} {{
             const SIZE: usize = 1;
             fn fields() -> ::std::string::String {{
                 ::std::format!(\"[{{}}]\", <Self as ::hearth::ActionField>::field(
                     \"action\", ::core::option::Option::None, \"\"))
             }}
             fn read(from: &[f32]) -> Self {{ ::hearth::ActionField::read(from) }}
         }}",
        variants.len()
    )
}

fn parse(item: TokenStream) -> Result<Item, String> {
    let mut tokens = item.into_iter().peekable();
    attributes(&mut tokens)?;
    let mut is_enum = false;
    for token in tokens.by_ref() {
        if let TokenTree::Ident(word) = token {
            is_enum = word.to_string() == "enum";
            if is_enum || word.to_string() == "struct" {
                break;
            }
        }
    }
    let name = tokens.next().map(|t| t.to_string()).unwrap_or_default();
    match tokens.next() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            let mut body = body.stream().into_iter().peekable();
            if is_enum {
                Ok(Item::Enum(name, variants(&mut body)?))
            } else {
                Ok(Item::Struct(name, fields(&mut body)?))
            }
        }
        _ => Err(format!(
            "{name}: expected a struct with named fields, or an enum, without parameters"
        )),
    }
}

fn variants(body: &mut Tokens) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    while body.peek().is_some() {
        attributes(body)?;
        match (body.next(), body.next()) {
            (Some(TokenTree::Ident(name)), None) => names.push(name.to_string()),
            (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(p))) if p.as_char() == ',' => {
                names.push(name.to_string());
            }
            (name, _) => {
                let name = name.map(|token| token.to_string()).unwrap_or_default();
                return Err(format!("{name}: expected a variant without data or number"));
            }
        }
    }
    if names.is_empty() {
        return Err("expected a variant".into());
    }
    Ok(names)
}

fn fields(body: &mut Tokens) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    while body.peek().is_some() {
        let (kind, options) = attributes(body)?;
        if matches!(body.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "pub") {
            body.next();
            if matches!(body.peek(), Some(TokenTree::Group(_))) {
                body.next();
            }
        }
        let name = body.next().map(|t| t.to_string()).unwrap_or_default();
        body.next(); // the colon
        let mut type_ = TokenStream::new();
        let mut depth = 0;
        for token in body.by_ref() {
            if let TokenTree::Punct(p) = &token {
                match p.as_char() {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    ',' if depth == 0 => break,
                    _ => {}
                }
            }
            type_.extend([token]);
        }
        fields.push(Field {
            name,
            type_: type_.to_string(),
            kind,
            options,
        });
    }
    if fields.is_empty() {
        return Err("expected a named field".into());
    }
    Ok(fields)
}

/// Skips attributes; returns the kind and the JSON members of `#[hearth(key = value, ...)]`.
fn attributes(tokens: &mut Tokens) -> Result<(Option<String>, String), String> {
    let mut kind = None;
    let mut options = String::new();
    while matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '#') {
        tokens.next();
        let Some(TokenTree::Group(attribute)) = tokens.next() else {
            continue;
        };
        let mut words = attribute.stream().into_iter();
        if words.next().map(|word| word.to_string()) != Some("hearth".into()) {
            continue;
        }
        let Some(TokenTree::Group(list)) = words.next() else {
            return Err("expected #[hearth(key = value, ...)]".into());
        };
        let list = list.stream().into_iter().collect::<Vec<_>>();
        for option in list.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
            let [TokenTree::Ident(key), TokenTree::Punct(equals), value @ ..] = option else {
                return Err("expected #[hearth(key = value, ...)]".into());
            };
            let value: String = value.iter().map(|token| token.to_string()).collect();
            if equals.as_char() != '=' || value.is_empty() {
                return Err(format!("expected {key} = value in #[hearth(...)]"));
            }
            if key.to_string() == "kind" {
                kind = Some(value.trim_matches('"').to_string());
            } else {
                let _ = write!(options, ", \"{key}\": {value}");
            }
        }
    }
    Ok((kind, options))
}
