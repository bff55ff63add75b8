import type { Actor, Audience } from '../base/people.ts'
import { checkName, refuse } from './options.ts'

const audience = /^(?:(?:user|group|role):.+|queue:[^/]+\/.+)$/su
const actor = /^(?:user|agent|policy|system):.+$/su

/** Checks an addressee. */
export function checkAudience(option: string, value: unknown): Audience {
  if (typeof value !== 'string' || !audience.test(checkName(option, value)))
    refuse(
      option,
      value,
      "It must be 'user:<name>', 'group:<name>', 'role:<name>' or 'queue:<scope>/<name>'.",
    )
  return value as Audience
}

/** Reads one or several addressees; an omitted option means everyone. */
export function readAudiences(option: string, value: unknown): readonly Audience[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) return [checkAudience(option, value)]
  if (value.length === 0) refuse(option, value, 'It must not be empty; omit it to ask everyone.')
  return [...new Set(value.map((one) => checkAudience(option, one)))]
}

/** Checks an actor. */
export function checkActor(option: string, value: unknown): Actor {
  if (typeof value !== 'string' || !actor.test(checkName(option, value)))
    refuse(option, value, "It must be 'user:<name>', 'agent:<name>', 'policy:<name>' or 'system:<name>'.")
  return value as Actor
}
