// A dynamic import as Node does it, out of reach of the test runner.
exports.nativeImport = (specifier) => import(specifier)
