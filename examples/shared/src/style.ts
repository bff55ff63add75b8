import picocolors from 'picocolors'

/** Colours for a terminal, and none for a pipe or a file. */
export const style = picocolors.createColors(process.stdout.isTTY === true && !process.env['NO_COLOR'])
