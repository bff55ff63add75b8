import type { AskOperation } from '../operations.ts'
import type { Remark } from '../remark.ts'
import { findUnfilled } from './message.ts'

type Given = { readonly [name: string]: unknown }

/** The services of the engine for asks. */
export interface AskServices {
  readonly escalateTo: string | undefined
  readonly remark: Remark
}

/** Warns of what is probably unintended in a question. `pass` says how it takes the values of its placeholders. */
export function remarkOnAsk(
  services: AskServices,
  { ask }: AskOperation,
  message: unknown,
  given: unknown,
  pass?: string,
): void {
  const { kind, silence } = ask.payload
  remarkOnMessage(services.remark, kind, message, given, pass)
  if (silence.do === 'escalate' && ask.due !== null) remarkOnEscalation(services, kind, silence.to)
}

/** Warns of placeholders without a value. They are not rejected: a message built from data may contain braces. */
export function remarkOnMessage(
  remark: Remark,
  method: string,
  message: unknown,
  given: unknown,
  pass = 'Pass the value in `data`',
): void {
  const { data, params } = { ...(given as { readonly data?: Given; readonly params?: Given } | undefined) }
  for (const name of findUnfilled(String(message), { ...data, ...params }))
    remark(
      `{${name}} of ${method}`,
      `the message of ${method} contains {${name}} without a value, and people see the braces. ${pass}, unless the braces are intended.`,
    )
}

function remarkOnEscalation(
  { escalateTo, remark }: AskServices,
  method: string,
  to: string | undefined,
): void {
  if (to !== undefined || escalateTo !== undefined) return
  remark(
    `escalation of ${method}`,
    `${method} has onTimeout: 'escalate', but neither it nor the engine names an audience: after the timeout the ask stays open, and no one else sees it. Set onTimeout: { escalateTo: 'role:manager' }, or \`escalateTo\` in createEngine.`,
  )
}
