// What can be known of processes when this one may open no more files. Writes it as JSON.
import { closeSync, openSync } from 'node:fs'
import { identifyOwnProcess, isProcessGone } from '../../../src/host/process/identity.ts'

const own = identifyOwnProcess()
const open: number[] = []
try {
  for (;;) open.push(openSync('/dev/null', 'r'))
} catch {
  // Now there is no room.
}
const reported = {
  own: identifyOwnProcess(),
  isGone: isProcessGone(own, own),
  isFirstGone: isProcessGone({ ...own, pid: 1 }, own),
}
for (const file of open) closeSync(file)
console.log(JSON.stringify(reported))
