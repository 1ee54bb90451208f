"""The version is that of the program; the wheel holds compiled code, and runs on every Python 3."""

import json
import pathlib

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class CompiledDistribution(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


folder = pathlib.Path(__file__).parent / "src" / "tandem" / "_program"
version = json.loads((folder / "package.json").read_text())["version"]

setup(version=version, distclass=CompiledDistribution, cmdclass={"bdist_wheel": PlatformWheel})
