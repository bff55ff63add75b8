/** A value that can stand in a sentence. */
export type Shown = string | number | bigint | boolean | Date | null

export type Placeholders<M extends string> = M extends `${string}{${infer K}}${infer Rest}`
  ? K | Placeholders<Rest>
  : never

/** One value for each {placeholder} of the message. */
export type ValuesFor<K extends string> = { readonly [P in K]: Shown } & { readonly [more: string]: Shown }

export type Data<Missing extends string> = [Missing] extends [never]
  ? { readonly data?: { readonly [name: string]: Shown } }
  : { /** A value for each placeholder of the message. */ readonly data: ValuesFor<Missing> }

/** The options of a question: compulsory as soon as its message has placeholders. */
export type Options<M extends string, O> = [Placeholders<M>] extends [never]
  ? [options?: O & Data<never>]
  : [options: O & Data<Placeholders<M>>]
