/** A word or phrase that Pawl's English does not use, and what to write instead. */
export interface BannedWords {
  readonly pattern: RegExp
  readonly instead: string
}

/** The whole list. A new entry is added with its replacement, and the text is changed in the same commit. */
export const bannedWords: readonly BannedWords[] = [
  { pattern: /\bwhoever\b/gi, instead: 'the caller, the worker or the person, by role' },
  { pattern: /\bnobody\b/gi, instead: 'no person, no worker, no caller; or name what is missing' },
  { pattern: /\bsomebody\b/gi, instead: 'a person, another worker, a caller' },
  { pattern: /\bhow-manieth\b/gi, instead: 'index' },
  { pattern: /\bthose (?:that|who|which)\b/gi, instead: 'the name of the things' },
  { pattern: /\bthat which\b/gi, instead: 'the name of the thing' },
  { pattern: /\bas it comes\b/gi, instead: 'by default' },
  { pattern: /\b(?:stand|stands|stood) in (?:the|a|an|its|their|it)\b/gi, instead: 'is in' },
  { pattern: /\b(?:take|takes|took|taken|taking) (?:\w+ )?up\b/gi, instead: 'resume, claim' },
  { pattern: /\b(?:let|lets|letting) (?:\w+ )?go\b/gi, instead: 'release' },
  { pattern: /\b(?:go|goes|going|gone|went) on\b/gi, instead: 'continue, resume' },
  {
    pattern: /\b(?:come|comes|came|coming) (?:to|of) nothing\b|\bnothing (?:came|comes) of\b/gi,
    instead: 'is ignored, has no effect',
  },
  { pattern: /\ball the same\b/gi, instead: 'still, anyway' },
  { pattern: /\b(?:run|runs|ran|running) out\b(?! of)/gi, instead: 'expire' },
  { pattern: /\bin vain\b/gi, instead: 'without success, or the number of attempts' },
  { pattern: /\b(?:put|puts|putting) (?:\w+ )?aside\b/gi, instead: 'park, mark as stuck' },
  { pattern: /\b(?:mend|mends|mended|mending)\b/gi, instead: 'fix' },
  { pattern: /\b(?:tries|tried|trying) (?:\w+ )?again\b/gi, instead: 'retry' },
  { pattern: /\bonce only\b/gi, instead: 'once' },
  { pattern: /\bwhat silence means\b|\bnobody's silence\b/gi, instead: 'what happens on timeout' },
  {
    pattern: /\b(?:do|does|did) not fit\b|\bdoesn't fit\b/gi,
    instead: 'is invalid, does not match the schema',
  },
  { pattern: /\bhas it (?:once|that)\b/gi, instead: 'contains' },
  { pattern: /\bso it is with\b|\bso does\b/gi, instead: 'repeat the statement with its subject' },
  {
    pattern: /\bwherefrom\b|\bwhereof\b|\bthereof\b|\bhitherto\b|\bthenceforth\b|\bwherewith\b/gi,
    instead: 'a plain phrase',
  },
]
