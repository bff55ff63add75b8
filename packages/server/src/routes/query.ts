import { z } from 'zod'

/** 1 to 500; the client's default is 50. */
export const limit = z.coerce.number().int().min(1).max(500).optional()

/** The cursor of the previous page. */
export const cursor = z.string().optional()

/** Maximum time that a request waits for an event: up to 60 s. */
export const wait = z
  .string()
  .regex(/^\d{1,5}(ms|s)$/)
  .refine((text) => Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : 1000) <= 60_000, 'at most 60s')
  .optional()
  .meta({ description: 'How long to wait for the end of the run, such as 30s. At most 60s' })
