// Restate, as its documentation sets it up: one server, and a service in this process that it calls.
import { createServer } from 'node:http2'
import { add } from './arithmetic.mjs'
import { bytesOfFiles } from './disk.mjs'

// Read when the SDK is imported.
process.env.RESTATE_LOGGING = 'ERROR'
const { createEndpointHandler, RestatePromise, service } = await import('@restatedev/restate-sdk')
const { connect, rpc } = await import('@restatedev/restate-sdk-clients')

export const about = {
  title: 'Restate',
  package: '@restatedev/restate-server',
  settings: 'its own server with one node, default durability',
  onKill: 'every reported step',
  onPowerLoss: 'every reported step: its log is written with fsync on',
  limit: 'disk usage is the size of its files, including a log that it shortens later',
}

export async function open({ ingress, admin, port, folder }, { onStep, onWait, onEnd }) {
  const steps = service({
    name: 'steps',
    handlers: {
      async sequence(ctx, { id, steps, waits }) {
        let sum = 0
        for (let i = 0; i < steps; i++) sum += await ctx.run('step', async () => onStep(i))
        if (waits) {
          const awakeable = ctx.awakeable()
          onWait(id, awakeable.id)
          sum += await awakeable.promise
        }
        return onEnd(id, sum)
      },
      async fan(ctx, { id, steps }) {
        const begin = (_, i) => ctx.run('step', async () => onStep(i))
        const all = await RestatePromise.all(Array.from({ length: steps }, begin))
        return onEnd(id, all.reduce(add))
      },
      child: async (_ctx, i) => onStep(i),
      async parent(ctx, { id, steps: count }) {
        const begin = (_, i) => ctx.serviceClient(steps).child(i)
        const all = await RestatePromise.all(Array.from({ length: count }, begin))
        return onEnd(id, all.reduce(add))
      },
    },
  })
  const endpoint = createServer(createEndpointHandler({ services: [steps] }))
  await new Promise((resolve) => endpoint.listen(port, '127.0.0.1', resolve))
  await register(admin, `http://127.0.0.1:${port}`)
  const client = connect({ url: ingress })

  return {
    async start(name, id, count, waits = false) {
      const input = { id, steps: count, waits }
      if (waits) {
        const sent = await client.serviceSendClient(steps)[name](input, rpc.sendOpts({ idempotencyKey: id }))
        return () => client.result(sent)
      }
      const called = client.serviceClient(steps)[name](input)
      return () => called
    },
    signal: (_id, value, awakeable) => client.resolveAwakeable(awakeable, value),
    diskBytes: async () => bytesOfFiles(folder),
  }
}

async function register(admin, uri) {
  const response = await fetch(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  })
  if (!response.ok) throw new Error(`the server refused the service: ${await response.text()}`)
}
