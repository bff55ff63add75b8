/** A value that can stand in a sentence. */
export type Shown = string | number | bigint | boolean | Date | null

export type Placeholders<M extends string> = M extends `${string}{${infer K}}${infer Rest}`
  ? NameIn<K> | Placeholders<Rest>
  : never

/** Between the innermost braces; never where it is no name but JSON, or nothing. */
type NameIn<K extends string> = K extends `${string}{${infer Inner}`
  ? NameIn<Inner>
  : K extends '' | `${string}${'"' | ':' | '\n'}${string}`
    ? never
    : K

/** One value for each {placeholder} of the message. */
export type ValuesFor<K extends string> = { readonly [P in K]: Shown } & { readonly [more: string]: Shown }

export type Data<Missing extends string> = [Missing] extends [never]
  ? {
      /** Values for the placeholders of the message. Required if it has placeholders that nothing else fills. Default: none. */
      readonly data?: { readonly [name: string]: Shown }
    }
  : { /** A value for each placeholder of the message. */ readonly data: ValuesFor<Missing> }

/** The options of a question: compulsory as soon as its message has placeholders. */
export type Options<M extends string, O> = [Placeholders<M>] extends [never]
  ? [options?: O & Data<never>]
  : [options: O & Data<Placeholders<M>>]
