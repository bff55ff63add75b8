import { type Ctx, procedure } from '@pawl/core'
import { z } from 'zod'
import { findFaults, findMissingImages, findSlips } from './checks.ts'
import { readDraft } from './drafts.ts'
import { editor, verifier } from './judges.ts'
import { renderMarkdown } from './markdown.ts'
import { site } from './site.ts'

const Post = z.object({ title: z.string().min(1), publishAt: z.iso.datetime(), html: z.string() })
type Post = z.infer<typeof Post>

const Outcome = z.object({
  status: z.enum(['published', 'rejected', 'taken back', 'broken']),
  why: z.string(),
})
type Outcome = z.infer<typeof Outcome>

/** Publishes a draft: an agent checks it, a person decides and may edit, and an agent looks at what became of it. */
export const publishPost = procedure(
  { name: 'publish-post', input: z.object({ slug: z.string() }), output: Outcome },
  async (ctx, { slug }) => {
    const [draft, images, slips] = await Promise.all([
      ctx.step('fetch the draft', () => readDraft(slug)),
      ctx.step('check the images', () => findMissingImages(slug)),
      ctx.step('check the spelling', () => findSlips(slug)),
    ])
    const html = await ctx.step('render', () => renderMarkdown(draft.markdown))
    const faults = await ctx.step('check the page', () => findFaults(html))

    const quality = await ctx.agent.decide(
      'Is it good enough to be shown to an editor?',
      ['approve', 'reject'],
      {
        agent: editor,
        material: { faults: [...images, ...faults], doubts: slips },
        minConfidence: 0.8,
        fallback: { ask: { to: 'group:editors' } },
      },
    )
    if (quality.choice === 'reject') return { status: 'rejected', why: quality.rationale }

    const preview = await ctx.step('preview', () => site.preview(slug, html))
    const review = await ctx.human.review(
      'Publish "{title}"?',
      { title: draft.title, publishAt: ctx.now().toISOString(), html } as Post,
      {
        data: { title: draft.title },
        choices: [
          { value: 'approve', effect: 'publishes and announces it when its time has come', style: 'primary' },
          { value: 'reject', effect: 'leaves the draft as it is' },
        ],
        editable: true,
        schema: Post,
        details: [
          { title: 'Preview', body: preview },
          { title: 'The agent', body: quality.rationale },
        ],
        risk: { level: 'high', reasons: ['external'] },
        to: 'group:editors',
        timeout: '24h',
        onTimeout: { default: 'reject' },
      },
    )
    if (review.choice === 'reject') return { status: 'rejected', why: review.comment ?? 'not wanted' }

    await ctx.sleepUntil(new Date(review.artifact.publishAt))
    await publish(ctx, slug, review.artifact)

    const sight = await ctx.step('look at the site', () => site.look(slug))
    const verdict = await ctx.agent.decide('Is the post live and as it should be?', ['ok', 'broken'], {
      agent: verifier,
      material: sight,
      fallback: 'broken',
    })
    if (verdict.choice === 'broken') return takeBack(ctx, slug, verdict.rationale)

    await ctx.step('update the dashboard', async () => site.showOnDashboard(await site.countPosts()))
    await ctx.human.notify('"{title}" is online.', {
      data: { title: review.artifact.title },
      to: 'group:authors',
    })
    return { status: 'published', why: verdict.rationale }
  },
)

/** All that the outside sees, at once. Each effect takes its key along, so that it does nothing when it is repeated. */
async function publish(ctx: Ctx, slug: string, { title, html }: Post): Promise<void> {
  await Promise.all([
    ctx.step('publish the page', () => site.publish(slug, title, html)),
    ctx.step('add to the feed', ({ idempotencyKey }) => site.addToFeed(slug, title, idempotencyKey)),
    ctx.step('announce', ({ idempotencyKey }) => site.announce(slug, `New: ${title}`, idempotencyKey)),
    ctx.step('add to the sitemap', ({ idempotencyKey }) =>
      site.addToSitemap(slug, `${slug}.html`, idempotencyKey),
    ),
  ])
}

/** Undoes the publication, and notifies the owners, also if the undo fails. */
async function takeBack(ctx: Ctx, slug: string, why: string): Promise<Outcome> {
  try {
    await ctx.step('take the post back', () => site.takeBack(slug))
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    await ctx.human.notify('{slug} is broken ({why}) and could not be taken back: {cause}', {
      data: { slug, why, cause },
      severity: 'critical',
      to: 'group:operations',
    })
    return { status: 'broken', why }
  }
  await ctx.human.notify('{slug} was taken back: {why}', {
    data: { slug, why },
    severity: 'error',
    to: 'group:operations',
  })
  return { status: 'taken back', why }
}
