import { checkArray, refuse } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import type { ReceiveOptions } from '../ctx.ts'
import { readDue } from '../human/options.ts'
import type { SignalOperation } from '../operations.ts'
import type { ProcedureDefinition } from '../procedure.ts'
import { readAnySignal, readSignal } from '../results.ts'

/** Builds the operation of `ctx.receive`. */
export function receiveOne(definition: ProcedureDefinition, name: unknown, given: unknown): SignalOperation {
  const signal = checkSignal(definition, 'receive', name)
  return {
    kind: 'signal',
    name: signal,
    names: [signal],
    due: readTimeout('receive', given),
    read: readSignal,
  }
}

/** Builds the operation of `ctx.receiveAny`. */
export function receiveAny(
  definition: ProcedureDefinition,
  given: unknown,
  options: unknown,
): SignalOperation {
  const names = checkArray('names of receiveAny', given).map((name) =>
    checkSignal(definition, 'receiveAny', name),
  )
  if (names.length === 0) refuse('names of receiveAny', given, 'Pass at least one signal.')
  return {
    kind: 'signal',
    name: names.join(' | '),
    names,
    due: readTimeout('receiveAny', options),
    read: readAnySignal,
  }
}

function checkSignal({ name: procedure, signals }: ProcedureDefinition, of: string, name: unknown): string {
  if (typeof name === 'string' && signals.has(name)) return name
  const declared = signals.size === 0 ? 'it declares none' : `it declares ${[...signals.keys()].join(', ')}`
  return refuse(`name of ${of}`, name, `It must be a signal of procedure '${procedure}': ${declared}.`)
}

const receiveOptions = { timeout: optional(readDue, null) } satisfies Spec<ReceiveOptions>

function readTimeout(of: string, given: unknown): SignalOperation['due'] {
  return readOptions(`of ${of}`, given, receiveOptions).timeout
}
