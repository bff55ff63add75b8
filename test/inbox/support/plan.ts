import { type Actions, decider, type Engine, type Procedure, procedure, type Task } from '@pawl/core'
import { z } from 'zod'

const act = { run: () => 'done', undo: () => {}, retry: false } as const
const use = {
  fetch: act,
  render: act,
  cms: {
    ...act,
    check: {
      ...{ type: 'human', message: 'Publish "{title}"?', risk: 'high', to: 'group:office' },
      ...{ editable: ['title', 'publishAt'], onReject: 'cancel' },
    },
  },
  send: act,
} as const satisfies Actions

/** Says what the question says that it is to say. */
const editor = decider('editor', async ({ question }) => ({
  choice: /\((\w+)\)/.exec(question)?.[1] ?? 'ok',
  rationale: 'every image has a text',
  confidence: 1,
}))

const tasks = (live: string): readonly Task<keyof typeof use>[] => [
  { id: 'draft', use: 'fetch' },
  { id: 'images', use: 'fetch' },
  { id: 'spelling', use: 'fetch' },
  { id: 'html', use: 'render', needs: ['draft', 'spelling'] },
  { id: 'small images', use: 'render', needs: ['images'] },
  { id: 'quality', verify: 'Alt texts, links?', needs: ['html', 'small images'], fallback: 'reject' },
  { id: 'preview', use: 'render', needs: ['quality'] },
  {
    ...{ id: 'publish', use: 'cms', needs: ['preview'] },
    params: { title: 'Tides', publishAt: '2026-03-01T09:00' },
  },
  { id: 'feed', use: 'send', needs: ['publish'] },
  {
    ...{ id: 'tweet', use: 'send', needs: ['publish'] },
    check: { type: 'agent', question: 'Is it short enough? (approve)', fallback: 'reject' } as const,
  },
  { id: 'sitemap', use: 'send', needs: ['publish'] },
  { id: 'live', verify: live, needs: ['publish', 'feed', 'tweet', 'sitemap'], fallback: 'reject' },
  { id: 'announce', use: 'send', needs: ['live'] },
]

/** The plan of a post; `live` is what its last verification says. */
export const postByPlan: Procedure<{ live: 'ok' | 'failed' }, string> = procedure(
  { name: 'post', input: z.object({ live: z.enum(['ok', 'failed']) }), output: z.string() },
  async (ctx, { live }) =>
    (await ctx.plan(tasks(`Is it live? (${live})`), { use, decider: editor, alert: 'group:office' })).status,
)

/** Starts a plan that waits for a person, and one that was undone. Returns the id of the ask. */
export async function startPlans({ engine }: { readonly engine: Engine }): Promise<string> {
  const undone = await engine.run(postByPlan, { live: 'failed' }, { id: 'post:1' })
  const { id } = await engine.inbox.next({ run: undone.id })
  await engine.inbox.answer(id, { approved: true }, { as: 'user:bob' })
  await undone.result()
  const open = await engine.run(postByPlan, { live: 'ok' }, { id: 'post:2' })
  return (await engine.inbox.next({ run: open.id })).id
}
