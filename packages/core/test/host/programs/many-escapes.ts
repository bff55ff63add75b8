// So many runs queue at once, and so many exceptions leave a turn of each; tells how many were kept from the process.
// usage: many-escapes <runs> <exceptions of each>
import { drain } from '../../../src/host/drain.ts'
import { installShield } from '../../../src/host/shield.ts'
import { turns } from '../../../src/host/turn.ts'
import { ownerOf } from '../turn-support.ts'

const [runs = 0, each = 0] = process.argv.slice(2).map(Number)
installShield()
let [kept, drained] = [0, 0]
process.on('exit', () => console.log(JSON.stringify({ kept, drained })))

for (let run = 0; run < runs; run++) {
  let outstanding = 1
  const execution = {
    ...ownerOf(`run ${run}`),
    onEscaped() {
      turns.broken = true
      kept++
    },
    get outstanding() {
      return outstanding
    },
    deliverNext() {
      outstanding--
      for (let i = 0; i < each; i++)
        process.nextTick(() => {
          throw new Error(`escaped ${i}`)
        })
    },
  }
  drain(execution, () => drained++)
}
