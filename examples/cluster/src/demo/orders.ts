import { setTimeout as pause } from 'node:timers/promises'
import { type Client, ref } from '@pawl/core'
import type { makeOrder } from '../order.ts'

export interface Order {
  readonly id: string
  readonly article: string
  readonly cents: number
}

const articles = ['kettle', 'lamp', 'atlas', 'hammock', 'compass', 'blanket', 'radio']

export function makeOrders(count: number): readonly Order[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `order:${String(index + 1).padStart(4, '0')}`,
    article: articles[index % articles.length] ?? '',
    cents: 500 + ((index * 7_919) % 20_000),
  }))
}

/** Takes them over the counter one after the other, spread over a while, as a shop does. */
export async function takeOrders(client: Client, orders: readonly Order[], seconds: number): Promise<void> {
  const procedure = ref<ReturnType<typeof makeOrder>>('order')
  const startedAt = Date.now()
  for (const [index, { id, article, cents }] of orders.entries()) {
    const dueAt = startedAt + (index / orders.length) * seconds * 1_000
    if (dueAt > Date.now()) await pause(dueAt - Date.now())
    await client.run(procedure, { article, cents }, { id })
  }
}
