# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Writes the cases in this folder: models of scikit-learn, XGBoost and LightGBM as their converters
export them, single nodes of ai.onnx.ml, and ONNX Runtime's results.  A case is a folder as `hearth
verify` reads it.  Labels that are strings are stored as their positions in the model's strings, and
the maps that ZipMap gives as the scores.

Run in a virtual environment with onnx 1.18.0, onnxruntime 1.32.0, scikit-learn 1.9.1, skl2onnx
1.20.0, onnxmltools 1.16.0, xgboost 3.2.0 and lightgbm 4.7.0:

    python3 make_cases.py
"""

import pathlib
import warnings

import lightgbm
import numpy as np
import onnx
import onnxmltools
import onnxruntime
import sklearn.linear_model as linear
import xgboost
from onnx import TensorProto, helper, numpy_helper
from onnxmltools.convert.common.data_types import FloatTensorType as MlFloats
from skl2onnx import to_onnx
from sklearn import ensemble, naive_bayes, neighbors, neural_network, preprocessing, svm, tree
from sklearn.pipeline import make_pipeline

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(6)
X = RNG.normal(size=(120, 5)).astype(np.float32)
Y = (X[:, 0] * 1.5 - X[:, 1] + np.sin(3 * X[:, 2])).astype(np.float32)
TWO = (Y > 0).astype(np.int64)
THREE = np.digitize(Y, [-0.7, 0.7]).astype(np.int64)
QUERY = np.concatenate([RNG.normal(size=(11, 5)), X[:2]]).astype(np.float32)


def with_plain_numbers(make_attribute):
    """Recent protobuf takes no bools or NumPy numbers for integers, which converters pass."""
    def make(key, value, *rest, **options):
        if isinstance(value, (list, tuple)) and any(isinstance(v, (bool, np.bool_)) for v in value):
            value = [int(v) for v in value]
        return make_attribute(key, value, *rest, **options)
    return make


helper.make_attribute = with_plain_numbers(helper.make_attribute)


def positions(model):
    """Numbers the strings of a model in the order in which the file has them."""
    known = {}
    for tensor in model.graph.initializer:
        for text in tensor.string_data:
            known.setdefault(text, len(known))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name.endswith("_strings"):
                for text in attribute.strings:
                    known.setdefault(text, len(known))
            if attribute.name == "default_string":
                known.setdefault(attribute.s, len(known))
    return {text.decode(): i for text, i in known.items()}


def as_data(model, value):
    if isinstance(value, list):  # of ZipMap
        return np.array([list(row.values()) for row in value], np.float32)
    if value.dtype.kind in "OU":
        known = positions(model)
        return np.array([known[text] for text in value.ravel()], np.int64).reshape(value.shape)
    return value


def save(name, model, feeds, tolerance="1e-4 1e-5"):
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    folder = HERE / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, HERE / name / "model.onnx")
    given = {i.name: x for i, x in zip(session.get_inputs(), feeds)}
    for i, (port, x) in enumerate(given.items()):
        (folder / f"input_{i}.pb").write_bytes(
            numpy_helper.from_array(as_data(model, x), port).SerializeToString())
    for i, (port, y) in enumerate(zip(session.get_outputs(), session.run(None, given))):
        (folder / f"output_{i}.pb").write_bytes(
            numpy_helper.from_array(as_data(model, y), port.name).SerializeToString())
    (HERE / name / "tolerance.txt").write_text(tolerance + "\n")


def sklearn_case(name, estimator, target, query=QUERY, x=X, tolerance="1e-4 1e-5", **options):
    estimator.fit(x, target)
    if options:
        options = {"options": {id(estimator): options}}
    save(name, to_onnx(estimator, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, **options),
         [query], tolerance)


def one_node(name, op, operands, kinds, outputs, **attributes):
    version = attributes.pop("version", 3)
    names = [f"x{i}" for i in range(len(operands))]
    node = helper.make_node(op, names, [f"y{i}" for i in range(len(outputs))],
                            domain="ai.onnx.ml", **attributes)
    inputs = [helper.make_tensor_value_info(n, k, x.shape)
              for n, k, x in zip(names, kinds, operands)]
    results = [helper.make_tensor_value_info(f"y{i}", k, None) for i, k in enumerate(outputs)]
    model = helper.make_model(
        helper.make_graph([node], name, inputs, results),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)])
    model.ir_version = 9
    save(name, model, operands)


F, I, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING

# --- Forests ---
few = dict(n_estimators=7, max_depth=4, random_state=0)
sklearn_case("forest_two_classes", ensemble.RandomForestClassifier(**few), TWO, zipmap=False)
sklearn_case("forest_three_classes", ensemble.RandomForestClassifier(**few), THREE, zipmap=False)
sklearn_case("forest_names", ensemble.RandomForestClassifier(**few),
             np.array(["idle", "attack", "flee"])[THREE])  # with its ZipMap
sklearn_case("forest_regressor", ensemble.RandomForestRegressor(**few), Y)
sklearn_case("forest_two_targets", ensemble.ExtraTreesRegressor(**few), np.stack([Y, -2 * Y + 1], 1))
sklearn_case("deep_tree", tree.DecisionTreeRegressor(min_samples_leaf=1), Y)
sklearn_case("tree_classifier", tree.DecisionTreeClassifier(max_depth=3), THREE, zipmap=False)
boosted = dict(max_iter=6, max_depth=3, random_state=0)
holes = QUERY.copy()
holes[::3, 1] = np.nan
with_holes = X.copy()
with_holes[::5, 1] = np.nan
sklearn_case("histogram_classifier", ensemble.HistGradientBoostingClassifier(**boosted), TWO, holes,
             with_holes, zipmap=False)
sklearn_case("histogram_regressor", ensemble.HistGradientBoostingRegressor(**boosted), Y, holes,
             with_holes)
gradient = dict(n_estimators=6, max_depth=3, random_state=0)
sklearn_case("gradient_two_classes", ensemble.GradientBoostingClassifier(**gradient), TWO,
             zipmap=False)
sklearn_case("gradient_three_classes", ensemble.GradientBoostingClassifier(**gradient), THREE,
             zipmap=False)
sklearn_case("isolation_forest", ensemble.IsolationForest(n_estimators=5, random_state=0), Y)
sklearn_case("bagging", ensemble.BaggingRegressor(n_estimators=3, random_state=0), Y)

small = dict(n_estimators=6, max_depth=3)
ml_types = [("x", MlFloats([None, 5]))]
for name, estimator, target in [
        ("xgboost_two_classes", xgboost.XGBClassifier(**small), TWO),
        ("xgboost_three_classes", xgboost.XGBClassifier(**small), THREE),
        ("xgboost_regressor", xgboost.XGBRegressor(**small), Y)]:
    estimator.fit(with_holes, target)
    save(name, onnxmltools.convert_xgboost(estimator, initial_types=ml_types, target_opset=15),
         [holes])
for name, estimator, target in [
        ("lightgbm_two_classes", lightgbm.LGBMClassifier(verbose=-1, **small), TWO),
        ("lightgbm_three_classes", lightgbm.LGBMClassifier(verbose=-1, **small), THREE),
        ("lightgbm_regressor", lightgbm.LGBMRegressor(verbose=-1, **small), Y)]:
    estimator.fit(X, target)
    save(name, onnxmltools.convert_lightgbm(estimator, initial_types=ml_types, target_opset=15,
                                            **({} if "regressor" in name else {"zipmap": False})),
         [QUERY])

# --- Linear models, support vectors and others ---
sklearn_case("logistic_two_classes", linear.LogisticRegression(), TWO, zipmap=False)
sklearn_case("logistic_three_classes", linear.LogisticRegression(), THREE, zipmap=False)
sklearn_case("linear_regressor", linear.Ridge(), np.stack([Y, 2 - Y], 1))
sklearn_case("sgd_classifier", linear.SGDClassifier(random_state=0), THREE, zipmap=False)
sklearn_case("svm_two_classes", svm.SVC(random_state=0), TWO, zipmap=False)
sklearn_case("svm_three_classes", svm.SVC(kernel="poly"), THREE, zipmap=False)
sklearn_case("svm_probability", svm.SVC(probability=True, random_state=0), TWO, zipmap=False)
sklearn_case("svm_probability_three", svm.SVC(probability=True, random_state=0), THREE,
             zipmap=False)
sklearn_case("svm_regressor", svm.SVR(), Y)
sklearn_case("svm_linear_regressor", svm.SVR(kernel="sigmoid"), Y)
sklearn_case("novelty", svm.OneClassSVM(), Y)
sklearn_case("pipeline", make_pipeline(preprocessing.StandardScaler(), preprocessing.Normalizer(),
                                       linear.LogisticRegression()), THREE)
sklearn_case("minmax_mlp", make_pipeline(preprocessing.MinMaxScaler(),
                                         neural_network.MLPRegressor(hidden_layer_sizes=(6,), max_iter=300,
                                                                     random_state=0)), Y)
sklearn_case("naive_bayes", naive_bayes.GaussianNB(), THREE, zipmap=False)
sklearn_case("neighbors", neighbors.KNeighborsRegressor(3), Y)

# --- Single nodes ---
three = RNG.normal(size=(4, 3)).astype(np.float32)
numbers = np.array([[7, 2], [5, 9], [-3, 2]], np.int64)
one_node("scaler", "Scaler", [three], [F], [F], offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, -1.0])
one_node("scaler_one_number", "Scaler", [three], [F], [F], offset=[0.5], scale=[2.0])
for norm in ("MAX", "L1", "L2"):
    one_node(f"normalizer_{norm.lower()}", "Normalizer", [np.abs(three)], [F], [F], norm=norm)
one_node("label_encoder_numbers", "LabelEncoder", [numbers], [I], [F], version=2,
         keys_int64s=[9, 2, 7], values_floats=[0.5, 1.5, 2.5], default_float=-1.0)
one_node("label_encoder_reals", "LabelEncoder", [np.float32([1.5, np.nan, 2.0, 4.0])], [F], [I],
         version=4, keys_floats=[2.0, float("nan"), 1.5], values_int64s=[3, 4, 5], default_int64=-7)
one_node("label_encoder_names", "LabelEncoder", [numbers], [I], [S], version=2,
         keys_int64s=[9, 2, 7, 5], values_strings=["red", "blue", "red", "green"],
         default_string="none")
one_node("label_encoder_of_names", "LabelEncoder", [np.array(["b", "a", "a", "c"])], [S], [I],
         version=2, keys_strings=["a", "b"], values_int64s=[10, 20], default_string="c",
         default_int64=-5)
one_node("one_hot_numbers", "OneHotEncoder", [numbers], [I], [F], cats_int64s=[2, 5, 9])
one_node("one_hot_names", "OneHotEncoder", [np.array([["x", "z"], ["y", "x"]])], [S], [F],
         cats_strings=["x", "y", "z"])
one_node("feature_extractor", "ArrayFeatureExtractor", [three, np.array([[2, 0]], np.int64)],
         [F, I], [F])
one_node("feature_extractor_of_list", "ArrayFeatureExtractor",
         [three[0], np.array([1, 2], np.int64)], [F, I], [F])
one_node("binarizer", "Binarizer", [three], [F], [F], threshold=0.25)
one_node("imputer", "Imputer", [np.float32([[1, np.nan, 3], [np.nan, 5, 6]])], [F], [F],
         imputed_value_floats=[10.0, 20.0, 30.0], replaced_value_float=float("nan"))
one_node("feature_vectorizer", "FeatureVectorizer", [three, three[:, :2].copy()], [F, F], [F],
         inputdimensions=[3, 2])
for name, transform, intercepts in [("none", "NONE", [0.3]), ("logistic", "LOGISTIC", [0.3]),
                                    ("softmax_zero", "SOFTMAX_ZERO", [0.3, -0.1, 0.2])]:
    one_node(f"linear_classifier_{name}", "LinearClassifier", [three], [F], [I, F],
             coefficients=RNG.normal(size=3 * len(intercepts)).tolist(), intercepts=intercepts,
             classlabels_ints=list(range(3, 3 + max(2, len(intercepts)))), post_transform=transform)
modes = ["BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_LEQ"]
steps = np.float32([[-1], [0], [0.5], [1], [2], [np.nan]])
for tracked in (0, 1):
    leafs = len(modes) * 2
    one_node(f"modes_missing_{tracked}", "TreeEnsembleRegressor", [steps], [F], [F],
             nodes_treeids=[t for t in range(6) for _ in range(3)], nodes_nodeids=[0, 1, 2] * 6,
             nodes_featureids=[0] * 18, nodes_values=[0.5, 0.0, 0.0] * 6,
             nodes_modes=[m for mode in modes for m in (mode, "LEAF", "LEAF")],
             nodes_truenodeids=[1, 0, 0] * 6, nodes_falsenodeids=[2, 0, 0] * 6,
             nodes_missing_value_tracks_true=[tracked, 0, 0] * 6,
             target_treeids=[t for t in range(6) for _ in range(2)], target_nodeids=[1, 2] * 6,
             target_ids=list(range(6)) * 0 + [t for t in range(6) for _ in range(2)],
             target_weights=[float(1 + i) for i in range(leafs)], n_targets=6)
for aggregate in ("MIN", "MAX", "AVERAGE"):
    one_node(f"aggregate_{aggregate.lower()}", "TreeEnsembleRegressor", [steps[:5]], [F], [F],
             nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2] * 2,
             nodes_featureids=[0] * 6, nodes_values=[0.5, 0, 0, 0.75, 0, 0],
             nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * 2, nodes_truenodeids=[1, 0, 0] * 2,
             nodes_falsenodeids=[2, 0, 0] * 2, target_treeids=[0, 0, 1, 1],
             target_nodeids=[1, 2, 1, 2], target_ids=[0] * 4, target_weights=[1.0, 4.0, 3.0, 2.0],
             n_targets=1, aggregate_function=aggregate)
one_node("ensemble_of_version_5", "TreeEnsemble", [steps[:5]], [F], [F], version=5, n_targets=2,
         aggregate_function=1, tree_roots=[0, 2], nodes_featureids=[0, 0, 0],
         nodes_modes=helper.make_tensor("m", TensorProto.UINT8, [3], [0, 1, 4]),
         nodes_splits=helper.make_tensor("s", F, [3], [0.5, 0.0, 1.0]),
         nodes_truenodeids=[1, 0, 2], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[1, 2, 3],
         nodes_falseleafs=[1, 1, 1], leaf_targetids=[0, 1, 0, 1],
         leaf_weights=helper.make_tensor("w", F, [4], [1.0, 2.0, 3.0, 4.0]))
