import type { StorePort, WholeStore } from './store/store.ts'

type Concern = {
  [Name in keyof WholeStore]-?: NonNullable<WholeStore[Name]> extends number | ((...args: never) => unknown)
    ? never
    : Name
}[keyof WholeStore]

/** The name of a method of a store, such as `now` or `runs.find`. */
export type StoreCall =
  | 'open'
  | 'close'
  | 'now'
  | 'askIdKey'
  | 'watch'
  | { [Name in Concern]: `${Name}.${keyof WholeStore[Name] & string}` }[Concern]

/** A method of a store. */
export type StoreMethod = (...args: readonly unknown[]) => unknown

/** Wraps every method of a store, of its concerns as well. Called once for each connection. */
export function wrapCalls<Port extends StorePort>(
  store: Port,
  wrap: (name: StoreCall, call: StoreMethod) => StoreMethod,
): Port {
  const wrapMembers = (members: object, prefix: string): object =>
    Object.fromEntries(
      Object.entries(members).map(([name, member]: [string, unknown]) => {
        if (typeof member === 'function')
          return [name, wrap(`${prefix}${name}` as StoreCall, member.bind(members) as StoreMethod)]
        return [name, isObject(member) ? wrapMembers(member, `${name}.`) : member]
      }),
    )
  return wrapMembers(store, '') as Port
}

function isObject(member: unknown): member is object {
  return typeof member === 'object' && member !== null
}
