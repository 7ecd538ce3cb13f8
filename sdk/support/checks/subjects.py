#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Commit subjects are short and imperative: subjects.py [--root DIR] [--since REV] [--message FILE].

Reads the commits since REV: no subject is longer than 72 columns, and nine in ten begin with a verb in the imperative.
Merges, reverts and fixups do not count. --message checks one message instead, as the hook .githooks/commit-msg does:
that one must also name its area, as in `plan: Let in-place ops reuse their input's bytes`."""

import re
import sys
from pathlib import Path

import tree

SINCE = "a1447c8"  # older subjects are as they are
COLUMNS = 72
IMPERATIVE = 0.9
AREA = re.compile(r"[\w./+-]+(?:, [\w./+-]+)*: ")
MADE_BY_GIT = re.compile(r"(Merge |Revert \"|Reapply \"|fixup! |squash! |amend! )")
PREFIX = re.compile(r"(re|un|de|dis|pre|over)-?(?=\w{3})")
VERBS = set("""
    abort accept access account acquire activate adapt add address adjust admit adopt advance align allocate allow
    alter amend analyze annotate announce answer anticipate append apply approximate archive arrange ask assemble
    assert assign associate assume attach attend audit author avoid await back bake balance base batch begin benchmark
    bind bisect blend block bound box branch break bring broadcast buffer build bump bundle bypass cache calculate
    calibrate call cancel cap capture carry cast catch center chain change charge check choose chunk cite claim clamp
    clarify classify clean clear clip clone close coalesce collapse collect color combine come command comment commit
    compact compare compile complain complete compose compress compute concatenate condense configure confirm connect
    consider consolidate constrain construct consume contain continue control convert cook coordinate copy correct
    count cover crash create credit crop cross cut cycle date debug decide declare decode decompose decouple decrease
    dedicate deduce deduplicate default defer define delay delegate delete deliver demand demonstrate deny depend
    deprecate derive describe design detach detect determine diagnose differentiate direct disable discard dispatch
    display dispose distinguish distribute divide do document don't double download draw drive drop dump duplicate edit
    eliminate embed emit emulate enable encode end enforce enlarge ensure enter enumerate erase escape establish
    estimate evaluate examine exchange exclude execute exempt exercise exit expand expect explain explore export expose
    express extend extract factor fail fall fan feature feed fetch fill filter finalize find finish fit fix flag
    flatten flip flush fold follow forbid force forget fork format forward free freeze fuse fuzz gate gather generalize
    generate get give go grant group grow guarantee guard guess guide halve handle hash help hide hint hoist hold honor
    ignore illustrate implement import improve include incorporate increase increment index infer inform inherit
    initialize inject inline insert inspect install instantiate instrument integrate interleave interpolate interpret
    intersect introduce invalidate invert investigate invoke isolate issue iterate join jump keep kill know label
    launch lay lead learn leave lengthen let level lift limit linearize link list listen load localize locate lock log
    look lose lower maintain make manage map mark mask match materialize measure memoize mend mention merge migrate
    mind minimize mirror mix mock model modernize modify monitor mount move multiply mutate name narrow negate nest
    normalize note notify number obey observe obtain offer offload omit open optimize order organize outline output
    overlap override overwrite own pace pack package pad page pair parallelize parameterize parse partition pass paste
    patch pause peel perform permit permute persist pick pin pipeline place plan play plot point poll pool populate
    port postpone precompute predict prefer prefetch prepare prepend present preserve press prevent print prioritize
    probe process produce profile prohibit project promise promote prompt propagate protect prove provide prune publish
    pull push put quantify quantize query queue quit quote race raise randomize rank rate reach react read realize
    rearrange rebuild recall receive recognize recommend reconcile record recover redirect reduce refactor refer
    reference refine reflect refresh refuse regenerate register regress regroup reject relate relax release rely remain
    remember remind remove render repair repeat replace replay reply report represent reproduce request require reserve
    reset reshape resize resolve respect respond restore restrict resume retain retire retry return reveal reverse
    revert review revise rework rewrite rotate round route run sample sanitize satisfy save say scale scan schedule
    scope score screen script seal search see seed seek select send separate serialize serve set settle shade shape
    share shift ship shorten show shrink shuffle sign signal silence simplify simulate size skip sleep slice smooth
    snapshot solve sort spare spawn specialize specify speed spell spend spill split spread stabilize stack stage stamp
    stand standardize start state stay step stop store stream strengthen stress strip structure subclass submit
    substitute subtract suggest sum summarize supply support suppress survive suspend swap sweep switch sync
    synchronize tag take talk target teach tell terminate test thread throttle throw tidy tie tighten tile time
    tokenize tolerate touch trace track train transfer transform translate transpose traverse treat trim trust try tune
    turn type unify unite update upgrade upload use validate vary vectorize verify version visit wait wake walk want
    warm warn watch weaken weigh widen wire work wrap write yield zero""".split())


def is_made_by_git(subject):
    return MADE_BY_GIT.match(subject) is not None


def first_word(subject):
    """The first word after the area."""
    found = re.match(r"[^\W\d_][\w'’-]*", AREA.sub("", subject, count=1))
    return found.group() if found else ""


def is_imperative(subject):
    word = first_word(subject).lower().replace("’", "'")
    return bool({word, PREFIX.sub("", word, count=1), word.rpartition("-")[2]} & VERBS)


def faults(subject):
    """What is wrong with one subject and what to do about it, a sentence each."""
    if len(subject) > COLUMNS:
        yield f"expected at most {COLUMNS} columns, found {len(subject)}; move details into the body"
    if not AREA.match(subject):
        yield "expected 'area: Summary', found no area; begin with the folder or part that changes, as in 'docs: ...'"
    if not is_imperative(subject):
        yield (f"expected a verb in the imperative first ('Add', 'Fix', 'Measure'), found '{first_word(subject)}'; say "
               "what the commit does, or add the verb to VERBS in sdk/support/checks/subjects.py")


def check_message(path):
    lines = [line.rstrip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    subject = next((line for line in lines if line and not line.startswith("#")), "")
    if not subject or is_made_by_git(subject):  # git itself refuses an empty message
        return 0
    found = list(faults(subject))
    if found:
        print(f"subjects: not committed: {subject}")
        print("\n".join(f"  {fault}" for fault in found))
        print(f"  the message is kept: git commit --edit --file {path}")
    return 1 if found else 0


def check_history(root, since):
    if not tree.is_checkout(root):
        return tree.skip("subjects", f"{root} is not a git checkout")
    if tree.git(root, "merge-base", "--is-ancestor", since, "HEAD") is None:
        is_shallow = (tree.git(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true"
        return tree.skip("subjects", f"HEAD does not descend from {since} in this clone"
                         + ("; it is shallow: git fetch --unshallow" if is_shallow else ""))
    log = tree.git(root, "log", "--no-merges", "--format=%h %s", f"{since}..HEAD").splitlines()
    commits = [line.split(" ", 1) for line in log]
    commits = [(revision, subject) for revision, subject in commits if not is_made_by_git(subject)]
    long = [(r, s) for r, s in commits if len(s) > COLUMNS]
    other = [(r, s) for r, s in commits if not is_imperative(s)]
    for revision, subject in long:
        print(f"{revision} {subject}: expected at most {COLUMNS} columns, found {len(subject)}")
    for revision, subject in other:
        print(f"{revision} {subject}: expected a verb in the imperative, found '{first_word(subject)}'")
    print(f"subjects: {len(commits)} since {since}; {len(long)} longer than {COLUMNS} columns, expected none; "
          f"{len(commits) - len(other)} imperative, expected {IMPERATIVE:.0%}")
    return 1 if long or len(commits) - len(other) < IMPERATIVE * len(commits) else 0


def main(argv=None):
    options = tree.arguments(__doc__, since={"default": SINCE, "help": "the last revision that is not read"},
                             message={"type": Path, "help": "a file with one commit message"}).parse_args(argv)
    return check_message(options.message) if options.message else check_history(options.root, options.since)


if __name__ == "__main__":
    sys.exit(main())
