import { PawlError } from '../../errors/pawl-error.ts'

/**
 * Asks under a key that no other ask of the run has: the wanted one, else the same with a number. Adapters use the id of a tool
 * call as the key, and a provider may repeat an id. A refused key takes no position, so every replay finds the same key.
 */
export async function askUnderFreeKey<Answer>(
  wanted: string,
  ask: (key: string) => Promise<Answer>,
): Promise<Answer> {
  for (let repeat = 1; ; repeat += 1) {
    const key = repeat === 1 ? wanted : `${wanted}-${repeat}`
    try {
      return await ask(key)
    } catch (error) {
      if (!isTakenKey(error, key)) throw error
    }
  }
}

function isTakenKey(error: unknown, key: string): boolean {
  if (!PawlError.is(error, 'option-invalid')) return false
  const { option, given } = error.details
  return option.startsWith('key of ') && given.includes(key)
}
