/**
 * Reads a run or ask id from one segment of a path. `~` and base64url stand for ids with other characters than
 * `A-Z a-z 0-9 . _ : -`, since proxies decode `%2F`.
 */
export function readId(segment: string): string {
  return segment.startsWith('~') ? Buffer.from(segment.slice(1), 'base64url').toString('utf8') : segment
}
