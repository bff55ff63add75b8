/** A value that can be part of a message. */
export type Shown = string | number | bigint | boolean | Date | null

export type Placeholders<M extends string> = M extends `${string}{${infer K}}${infer Rest}`
  ? NameIn<K> | Placeholders<Rest>
  : never

/** The name between the innermost braces; never for JSON or empty braces. */
type NameIn<K extends string> = K extends `${string}{${infer Inner}`
  ? NameIn<Inner>
  : K extends '' | `${string}${'"' | ':' | '\n'}${string}`
    ? never
    : K

/** The values for the {placeholders} of a message. */
export type ValuesFor<K extends string> = { readonly [P in K]: Shown } & { readonly [more: string]: Shown }

export type Data<Missing extends string> = [Missing] extends [never]
  ? {
      /** Values for the placeholders of the message. Required if it has placeholders that nothing else fills. Default: none. */
      readonly data?: { readonly [name: string]: Shown }
    }
  : { /** A value for each placeholder of the message. */ readonly data: ValuesFor<Missing> }

/** The options of an ask: required if its message has placeholders. */
export type Options<M extends string, O> = [Placeholders<M>] extends [never]
  ? [options?: O & Data<never>]
  : [options: O & Data<Placeholders<M>>]
