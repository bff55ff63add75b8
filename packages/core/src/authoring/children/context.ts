import { implement } from '../../base/implement.ts'
import type { Makers } from '../../base/lazy.ts'
import { checkName, findNearest, refuse } from '../../checks/options.ts'
import { oneOf, optional, readOptions, type Spec } from '../../checks/spec.ts'
import type { LogEvent } from '../../events/event.ts'
import { encode } from '../../events/payload.ts'
import type { CreatedPayload } from '../../events/payloads.ts'
import { readCancelRequest } from '../cancel-request.ts'
import type { Ctx } from '../ctx.ts'
import type { ChildOperation, ChildSpec, IssueOperation } from '../operations.ts'
import { definitionOf, isProcedureRef, type ProcedureDefinition } from '../procedure.ts'
import { readNothing, readValue } from '../results.ts'
import type { Rollback } from '../rollback/rollback.ts'
import type { ChildHandle, ChildOptions } from './child.ts'

/** Maximum number of runs above a run. */
const maxDepth = 64
/** Maximum number of pending operations with which a child may be created, and of spawned runs that end with their parent. */
const maxChildren = 10_000

/** The run that creates runs. */
interface ParentRun {
  readonly runId: string
  /** The number of runs above it. */
  readonly depth: number
  readonly execution: { readonly pendingCount: number }
}

/** What a run knows of its children. */
export interface ChildNotes {
  /** The number of runs that it has spawned and that end with it. */
  spawned: number
  /** Reads the result of a call. Null until there is one: all calls of a run share it. */
  readCalled: ChildOperation['read'] | null
}

/** The parts of a `ctx` that create runs. */
interface ChildParts {
  readonly issue: IssueOperation
  readonly options: ParentRun
  readonly children: ChildNotes
  readonly rollback: Pick<Rollback, 'noteCompleted'>
}

/** The part of a context that deals with other runs. */
export const childOps: Makers<Pick<Ctx, 'call' | 'spawn' | 'get'>, ChildParts> = {
  call: (parts) => (procedure: unknown, input?: unknown, given?: unknown) => {
    const { child } = readChild('call', procedure, input, given, parts.options)
    const { children, rollback } = parts
    children.readCalled ??= (event) => readCompleted(rollback, event.name, event)
    return parts.issue({ kind: 'child', name: child.procedure, child, read: children.readCalled })
  },
  spawn: (parts) => (procedure: unknown, input?: unknown, given?: unknown) =>
    spawn(parts, procedure, input, given),
  get: (parts) => (procedure: unknown, id: unknown) => {
    const { definition } = readProcedure('get', procedure)
    const run = checkName('id of get', id)
    if (run === parts.options.runId)
      refuse('id of get', id, 'A run cannot wait for itself or write to itself. Take the id of another run.')
    return createHandle(parts.issue, run, definition)
  },
}

function spawn(
  { issue, options, children, rollback }: ChildParts,
  procedure: unknown,
  input: unknown,
  given: unknown,
): Promise<unknown> {
  const { child, definition } = readChild('spawn', procedure, input, given, options)
  if (!child.isDetached && children.spawned === maxChildren)
    refuse(
      'number of runs of spawn',
      maxChildren + 1,
      `A run can spawn at most ${maxChildren} runs that end with it. Pass { onParentEnd: 'detach' }, or divide the work among runs that spawn their own.`,
    )
  const read: ChildOperation['read'] = (event) => {
    const { id } = readValue(event) as CreatedPayload
    return createHandle(issue, id, definition, (end) => readCompleted(rollback, child.procedure, end))
  }
  const issued = issue({ kind: 'spawn', name: child.procedure, child, read })
  if (!child.isDetached) children.spawned++
  return issued
}

/** Reads the result of a child. Its undos do not run when this run rolls back. */
function readCompleted(rollback: ChildParts['rollback'], procedure: string, event: LogEvent): unknown {
  const output = readValue(event)
  rollback.noteCompleted(procedure)
  return output
}

/** Creates a handle on another run. */
function createHandle(
  issue: IssueOperation,
  run: string,
  definition: ProcedureDefinition | undefined,
  readEnd: ChildOperation['read'] = readValue,
): ChildHandle<unknown> {
  return implement<ChildHandle<unknown>>({
    id: run,
    result: () => issue({ kind: 'result', name: run, run, read: readEnd }),
    signal: (given: unknown, ...rest: readonly unknown[]) => {
      const name = checkName('name of signal', given)
      const schema = definition?.signals.get(name)
      if (definition !== undefined && schema === undefined)
        refuseSignal(name, definition.name, [...definition.signals.keys()])
      const args = rest.length === 0 ? null : encode(rest, 'payload')
      return issue({ kind: 'send', name, run, message: { do: 'signal', schema, args }, read: readNothing })
    },
    cancel: (reason?: unknown, given?: unknown) => {
      const payload = readCancelRequest(reason, given)
      return issue({
        kind: 'send',
        name: 'cancel',
        run,
        message: { do: 'cancel', payload },
        read: readNothing,
      })
    },
  })
}

const childOptions = {
  id: optional(checkName, null),
  onParentEnd: optional(oneOf(['cancel', 'detach']), 'cancel'),
} satisfies Spec<ChildOptions>

function readChild(
  of: 'call' | 'spawn',
  procedure: unknown,
  input: unknown,
  given: unknown,
  { depth, execution }: ParentRun,
): { readonly child: ChildSpec; readonly definition: ProcedureDefinition | undefined } {
  const { name, definition } = readProcedure(of, procedure)
  const { id, onParentEnd } = readOptions(`of ${of}`, given, childOptions)
  if (depth >= maxDepth)
    refuse(
      `depth of ${of}`,
      depth + 1,
      `Runs can be nested at most ${maxDepth} deep. Give the recursion an end, or call from a run that is less deep.`,
    )
  if (execution.pendingCount >= maxChildren)
    refuse(
      `number of pending operations of ${of}`,
      execution.pendingCount + 1,
      `A run with ${maxChildren} pending operations cannot create another run. Await some first, for example with ctx.map and its concurrency.`,
    )
  const child: ChildSpec = {
    procedure: name,
    code: definition,
    id,
    input: encode(input, 'input'),
    isDetached: onParentEnd === 'detach',
  }
  return { child, definition }
}

function readProcedure(
  of: string,
  procedure: unknown,
): { readonly name: string; readonly definition: ProcedureDefinition | undefined } {
  if (isProcedureRef(procedure)) return { name: procedure.name, definition: definitionOf(procedure) }
  return refuse(
    `procedure of ${of}`,
    procedure,
    'It must be created by procedure() or ref(); a name is not enough.',
  )
}

/** Refuses a signal that the procedure does not declare. @throws PawlError 'option-invalid' */
export function refuseSignal(name: string, procedure: string, signals: readonly string[]): never {
  const nearest = findNearest(name, signals)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return refuse(
    'name of signal',
    name,
    `Procedure '${procedure}' declares ${signals.join(', ') || 'no signals'}.${hint}`,
  )
}
