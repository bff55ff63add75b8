import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

export interface Payment {
  readonly order: string
  readonly cents: number
  /** The step's idempotency key. */
  readonly key: string
  /** How often it was asked for. The money moved once. */
  readonly asked: number
}

/**
 * The bank: a ledger in a schema of its own. Like any good bank it knows a payment by its key, and tells the caller
 * asks for it again that it is done.
 */
export class Bank {
  readonly #pool: pg.Pool

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 3 })
    // A connection that broke while it was idle is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  async open(): Promise<void> {
    await this.#pool.query(`
      create schema bank;
      create table bank.payments (key text primary key, "order" text not null, cents int not null, asked int not null)`)
  }

  /** Takes as long as a bank: now and then a worker dies while it waits, before or after the money has moved. */
  async charge(order: string, cents: number, key: string): Promise<void> {
    await pause(20 + Math.random() * 40)
    await this.#pool.query(
      `insert into bank.payments (key, "order", cents, asked) values ($1, $2, $3, 1)
       on conflict (key) do update set asked = payments.asked + 1`,
      [key, order, cents],
    )
    await pause(20 + Math.random() * 40)
  }

  async payments(): Promise<readonly Payment[]> {
    const { rows } = await this.#pool.query<Payment>('select "order", cents, key, asked from bank.payments')
    return rows
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}
