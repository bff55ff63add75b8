import { type BodyOwner, runBody } from '../../src/host/body.ts'

/** Runs a body, and is what it returned or threw. `run`: that of another copy of the package. */
export function runToEnd<Result>(
  owner: BodyOwner,
  body: () => Result | PromiseLike<Result>,
  run = runBody,
): Promise<Result> {
  return new Promise((resolve, reject) =>
    run({ ...owner, run: body, onDone: (value) => resolve(value as Result), onFailed: reject }),
  )
}
