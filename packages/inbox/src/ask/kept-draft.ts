import { isObject } from '../api/json.ts'
import { type AskDraft, emptyDraft } from './draft.ts'

// Drafts survive a reload of the tab.

const keyOf = (ask: string): string => `pawl:draft:${ask}`

export function loadDraft(ask: string): AskDraft {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(ask)) ?? 'null')
    return isObject(kept) ? { ...emptyDraft, ...(kept as Partial<AskDraft>) } : emptyDraft
  } catch {
    return emptyDraft
  }
}

export function keepDraft(ask: string, draft: AskDraft): void {
  try {
    sessionStorage.setItem(keyOf(ask), JSON.stringify(draft))
  } catch {
    // A full or forbidden storage: the draft lives as long as the page.
  }
}

export function dropDraft(ask: string): void {
  sessionStorage.removeItem(keyOf(ask))
}
