import { type Actions, procedure, type StepCall } from '@pawl/core'
import { z } from 'zod'
import { editor } from './editor.ts'

/** Publishes a post by a plan: an agent judges before and after the action that a person checks. */
export function createPublishPost(act: (what: string, key: string, title?: string) => string) {
  const action = (what: string) => ({
    run: ({ title }: { title?: string }, _: object, call: StepCall) => act(what, call.idempotencyKey, title),
  })
  const undoable = (what: string) => ({
    ...action(what),
    undo: (_: unknown, call: StepCall) => act(`take back ${what}`, call.idempotencyKey),
  })
  const use = {
    ...{
      fetch: action('fetch'),
      images: action('images'),
      spell: action('spelling'),
      render: action('render'),
    },
    ...{
      preview: action('preview'),
      feed: undoable('feed'),
      tweet: undoable('tweet'),
      tell: action('announce'),
    },
    cms: {
      ...undoable('publish'),
      check: {
        ...{ type: 'human', message: 'Publish "{title}"?', risk: 'high', editable: ['title'] },
        ...{ to: 'group:editors', timeout: '24h' },
      },
    },
  } as const satisfies Actions
  return procedure({ name: 'publish-by-plan', input: z.object({ title: z.string() }) }, (ctx, { title }) =>
    ctx.plan(
      [
        { id: 'draft', use: 'fetch', params: { title } },
        { id: 'images', use: 'images' },
        { id: 'spelling', use: 'spell' },
        { id: 'html', use: 'render', needs: ['draft', 'spelling', 'images'] },
        {
          id: 'quality',
          verify: 'Alt texts, links?',
          needs: ['html'],
          fallback: 'human',
          to: 'group:editors',
        },
        { id: 'preview', use: 'preview', needs: ['quality'] },
        { id: 'publish', use: 'cms', needs: ['preview'], params: { title } },
        { id: 'feed', use: 'feed', needs: ['publish'] },
        { id: 'tweet', use: 'tweet', needs: ['publish'] },
        { id: 'live', verify: 'Is the post live?', needs: ['publish', 'feed', 'tweet'], fallback: 'reject' },
        { id: 'announce', use: 'tell', needs: ['live'] },
      ],
      { use, decider: editor, alert: 'group:ops' },
    ),
  )
}
