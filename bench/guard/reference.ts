import { createHash } from 'node:crypto'

/**
 * Work of the kind an engine does, always the same: promises, small objects, maps, text, hashes. What it
 * costs says how fast this processor is right now.
 */
export async function runReference(rounds = 4_000): Promise<number> {
  const kept = new Map<number, { readonly text: string; readonly at: number }>()
  let sum = 0
  for (let i = 0; i < rounds; i++) {
    const text = await Promise.resolve(JSON.stringify({ position: i, name: 'step', result: i }))
    kept.set(i % 512, { text, at: i })
    const { result } = JSON.parse(text) as { readonly result: number }
    const hash = createHash('sha256').update(text).digest()
    sum += result + (hash[0] ?? 0) + (kept.get((i * 7) % 512)?.at ?? 0)
  }
  return sum
}
