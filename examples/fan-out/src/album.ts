import { type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'

/** What resizes a photo; the demo notes each call. */
export type Resize = (photo: string, idempotencyKey: string) => Promise<number>

/** How many children work at once. */
export const atOnce = 10

const Photos = z.array(z.string())

/** Returns a procedure that resizes one photo, and one that has all photos of an album resized by child runs. */
export function createAlbum(resize: Resize): {
  readonly thumbnail: Procedure<string, number>
  readonly album: Procedure<string[], { photos: number; bytes: number }>
} {
  const thumbnail = procedure({ name: 'thumbnail', input: z.string(), output: z.number() }, (ctx, photo) =>
    ctx.step('resize', ({ idempotencyKey }) => resize(photo, idempotencyKey)),
  )
  const album = procedure(
    { name: 'album', input: Photos, output: z.object({ photos: z.number(), bytes: z.number() }) },
    async (ctx, photos) => {
      let done = 0
      const sizes = await ctx.map(
        photos,
        async (photo, inner) => {
          const bytes = await inner.call(thumbnail, photo)
          ctx.progress({ done: ++done, total: photos.length, message: photo })
          return bytes
        },
        { concurrency: atOnce },
      )
      return { photos: sizes.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) }
    },
  )
  return { thumbnail, album }
}
