// Where operations are called from.  Prints what was captured.
import { captureCallSite } from '../../../src/host/call-site.ts'
import { shareCell } from '../../../src/host/process/wide.ts'

const context = {
  step: (_name: string) => issue(),
}
const issue = () => captureCallSite(context.step)

async function author() {
  const direct = context.step('direct')
  await null
  const afterAwait = context.step('after an await')
  return { direct, afterAwait, inHelper: help() }
}

const help = () => [1].map(() => context.step('in a helper'))[0]

/** A function of the package calls the capture: its frame is not the author's. */
function byPackage(): unknown {
  const capture = captureCallSite as () => unknown as () => object
  return shareCell('call-site-test', capture)
}

console.log(JSON.stringify({ ...(await author()), byPackage: byPackage() }))
