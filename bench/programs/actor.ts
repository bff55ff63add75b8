// One process of the bench. Argument: the role to play; its input is the first message it hears.
import { openLine } from '../actor.ts'
import { roles } from '../workloads/roles.ts'

const [, , name = ''] = process.argv
const role = roles[name]
if (role === undefined) throw new Error(`no process of the bench has the role "${name}"`)
const line = openLine()
line.finish(await role(await line.hear(), line))
