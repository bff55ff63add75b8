import type { TurnOwner } from '../../kernel/turns.ts'
import { guardMethod } from './method.ts'

/** The part of Temporal that the guard needs; not every Node has it. */
interface Temporal {
  readonly Now: { timeZoneId(): string } & { readonly [method: string]: () => unknown }
  readonly Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(timeZone: unknown): Zoned } }
}
interface Zoned {
  toPlainDateTime(): unknown
  toPlainDate(): unknown
  toPlainTime(): unknown
}

/** Guards Temporal.Now if it exists. The time zone is the process's, as for Date. */
export function guardTemporal(): () => void {
  const temporal = (globalThis as { readonly Temporal?: Temporal }).Temporal
  if (temporal === undefined) return () => {}

  const instant = (run: TurnOwner) => temporal.Instant.fromEpochMilliseconds(run.now())
  const inZone = (run: TurnOwner, zone: unknown = temporal.Now.timeZoneId()) =>
    instant(run).toZonedDateTimeISO(zone)
  const answers: { readonly [method: string]: (run: TurnOwner, zone?: unknown) => unknown } = {
    instant,
    zonedDateTimeISO: inZone,
    plainDateTimeISO: (run, zone) => inZone(run, zone).toPlainDateTime(),
    plainDateISO: (run, zone) => inZone(run, zone).toPlainDate(),
    plainTimeISO: (run, zone) => inZone(run, zone).toPlainTime(),
  }
  const undoings = Object.entries(answers).map(([method, answer]) =>
    guardMethod(temporal.Now, method, {
      call: `Temporal.Now.${method}()`,
      use: 'ctx.now()',
      virtual: (run, _original, [zone]) => answer(run, zone),
    }),
  )
  return () => {
    for (const undo of undoings.reverse()) undo()
  }
}
