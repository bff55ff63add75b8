import type { Progress } from '@pawl/server/internal'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'

/** Shows the progress of a run: without a total a number and no bar. */
export function ProgressBar({ progress }: { readonly progress: Progress | undefined }) {
  if (progress === undefined) return null
  const { done, total, message } = progress
  return (
    <span class="progress">
      {total !== undefined && total > 0 && (
        <progress value={Math.min(done, total)} max={total} aria-label={en.progress} />
      )}
      <span class="number">{en.progressOf(done, total)}</span>
      {message !== undefined && (
        <span class="clip">
          <Text>{message}</Text>
        </span>
      )}
    </span>
  )
}
