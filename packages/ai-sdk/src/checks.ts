import { checkKeys, refuse } from '@pawl/core/internal'

/** Checks that a context was passed. */
export function checkCtx(of: string, ctx: unknown, method: string): void {
  if (typeof (ctx as { readonly [name: string]: unknown } | null | undefined)?.[method] !== 'function')
    refuse(`ctx of ${of}`, ctx, `Pass the \`ctx\` of the procedure first, such as ${of}(ctx, …).`)
}

/** Checks that a model was passed. */
export function checkModel(of: string, model: unknown, method: string): void {
  if (typeof (model as { readonly [name: string]: unknown } | null | undefined)?.[method] !== 'function')
    refuse(
      `model of ${of}`,
      model,
      `Pass a model of a provider of the AI SDK, such as ${of}(ctx, provider('…')).`,
    )
}

/** Refuses a misspelt option. */
export function checkOptionNames(of: string, options: object, known: readonly string[]): void {
  checkKeys(`the options of ${of}`, options, known)
}

export const modelOptions: readonly string[] = ['name', 'retry', 'timeout']
