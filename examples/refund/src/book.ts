import { fileURLToPath } from 'node:url'

/** The order book that comes with the example. */
export const bookFile: string = fileURLToPath(import.meta.resolve('@pawl/example-refund/data/orders.csv'))
