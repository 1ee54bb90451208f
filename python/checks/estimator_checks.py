"""Scikit-learn's own checks of the estimators. Every fit starts processes, so this takes some ten minutes of CPU.

python checks/estimator_checks.py [name of a check ...]
"""

import sys
import warnings
from unittest import SkipTest

from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from tandem import TandemClassifier, TandemRegressor

#: Checks that cannot apply, and why.
EXPECTED = {
    "check_fit2d_1feature": "a federation divides at least two features",
    "check_sample_weight_equivalence_on_dense_data": "quantile bins are of rows, as in XGBoost's hist without weights",
}


def main(wanted: list[str]) -> int:
    warnings.simplefilter("ignore", SkipTestWarning)
    failures = 0
    for make in (TandemClassifier, TandemRegressor):
        estimator = make(n_estimators=3, max_depth=2, scheme="lattice")
        for instance, check in estimator_checks_generator(estimator, mark=None):
            name = getattr(check, "func", check).__name__
            if wanted and name not in wanted:
                continue
            try:
                check(instance)
                outcome = "passed"
            except SkipTest as reason:
                outcome = f"skipped: {reason}"
            except Exception as error:  # each check fails in its own way
                outcome = f"failed: {type(error).__name__}: {str(error)[:300]}"
                if name in EXPECTED:
                    outcome = f"does not apply: {EXPECTED[name]}"
                else:
                    failures += 1
            print(f"{make.__name__} {name}: {outcome}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
