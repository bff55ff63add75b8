// What is on each page of the reference; the facts come from the docstrings of the types.

/** A file of `packages`, and the name of a declaration in it. */
export type Place = readonly [file: string, name: string]

export interface Table {
  /** Heading of the first column. Default: 'option'. */
  readonly title?: string
  /** The types whose members are listed; of several members of one name the first counts. */
  readonly types: readonly Place[]
  readonly only?: readonly string[]
  readonly without?: readonly string[]
  /** Markdown to show in place of the type in the source, by member. */
  readonly shown?: { readonly [member: string]: string }
  /** Whether methods are listed, too. */
  readonly hasMethods?: boolean
  /** Whether the members are read, not given: they have neither default nor range. */
  readonly isOutput?: boolean
}

export interface Section {
  readonly heading: string
  readonly signature?: string
  /** The declaration whose docstring introduces the section. */
  readonly of?: Place
  readonly note?: string
  readonly tables?: readonly Table[]
  /** Links to guides. */
  readonly see?: string
}

export interface Page {
  readonly file: string
  readonly title: string
  readonly intro: string
  readonly sections: readonly Section[]
}

const procedureFile = 'core/src/authoring/procedure.ts'
const ctxFile = 'core/src/authoring/ctx.ts'
const scopesFile = 'core/src/authoring/scopes/scope-ops.ts'
const progressFile = 'core/src/authoring/exposed/progress.ts'
const rollbackFile = 'core/src/authoring/rollback/rollback.ts'
const childFile = 'core/src/authoring/children/child.ts'
const messageFile = 'core/src/authoring/message-options.ts'
const stepFile = 'core/src/authoring/step/step.ts'
const gateFile = 'core/src/authoring/gate/gate.ts'
const planFile = 'core/src/authoring/plan/plan.ts'
const policyFile = 'core/src/authoring/policy/policy.ts'
const agentFile = 'core/src/authoring/agent/agent.ts'
const verdictFile = 'core/src/authoring/agent/verdict.ts'
const askFile = 'core/src/authoring/human/ask.ts'
const humanFile = 'core/src/authoring/human/human.ts'
const templateFile = 'core/src/authoring/human/template.ts'
const clientFile = 'core/src/client/types.ts'
const optionsFile = 'core/src/client/engine-options.ts'
const checkpointFile = 'core/src/client/checkpoints/checkpoint.ts'
const checkFile = 'core/src/runs/run-check.ts'
const previewFile = 'core/src/runs/preview.ts'
const answeringFile = 'core/src/client/answering.ts'
const channelFile = 'channels/src/channel.ts'
const linkFile = 'core/src/host/links/token.ts'
const pluginFile = 'core/src/client/plugins/plugin.ts'
const serverFile = 'server/src/types.ts'
const engineFile = 'core/src/engine.ts'
const observerFile = 'core/src/ports/observer.ts'
const testFile = 'testing/src/test-engine.ts'

const everyQuestion: readonly Place[] = [
  [askFile, 'AskOptions'],
  [templateFile, 'Data'],
]
const asEveryQuestion = 'Takes the [options of every question](#options-of-every-question), and:'
const data = '`{ [name]: string | number | bigint | boolean | Date | null }`'
const onTimeout = { onTimeout: '[onTimeout](#ontimeout)' }

/** A method of an observer: what it is called with, and what it returns. */
function observed(method: string, argument: string, returned?: string): readonly Section[] {
  const lists = (name: string): Table => {
    const isOfRun = observedOfRuns.includes(name)
    const types: Place[] = [
      [observerFile, name],
      ...(isOfRun ? ([[observerFile, 'ObservedRun']] as const) : []),
    ]
    return { types, hasMethods: true, isOutput: true }
  }
  const call: Section = {
    heading: `observer.${method}`,
    of: [observerFile, argument],
    tables: [lists(argument)],
  }
  if (returned === undefined) return [call]
  return [
    call,
    { heading: `What observer.${method} returns`, of: [observerFile, returned], tables: [lists(returned)] },
  ]
}

const observedOfRuns = ['ObservedAttempt', 'ObservedAsk', 'ObservedEnd']

export const pages: readonly Page[] = [
  {
    file: 'procedure.md',
    title: 'Procedures',
    intro: '',
    sections: [
      {
        heading: 'procedure',
        signature: 'procedure(options, body)',
        of: [procedureFile, 'procedure'],
        tables: [{ types: [[procedureFile, 'ProcedureSpec']] }],
        see: '[changing code](../guides/changing-code.md) for `version`, and [signals and timers](../guides/signals-and-timers.md) for `signals`',
      },
      {
        heading: 'rollback',
        of: [rollbackFile, 'RollbackSpec'],
        tables: [{ types: [[rollbackFile, 'RollbackSpec']] }],
        see: '[undoing](../guides/undoing.md)',
      },
      { heading: 'ref', signature: "ref<typeof refund>('refund')", of: [procedureFile, 'ref'] },
      {
        heading: 'ctx',
        of: [ctxFile, 'Ctx'],
        note: '[ctx.step](step.md), [ctx.human](human.md) and [ctx.agent](agent.md) have their own pages.',
      },
      { heading: 'ctx.sleep', signature: 'ctx.sleep(time)', of: [ctxFile, 'Ctx.sleep'] },
      { heading: 'ctx.sleepUntil', signature: 'ctx.sleepUntil(instant)', of: [ctxFile, 'Ctx.sleepUntil'] },
      {
        heading: 'ctx.receive',
        signature: 'ctx.receive(name, options)',
        of: [ctxFile, 'Ctx.receive'],
        tables: [{ types: [[ctxFile, 'ReceiveOptions']] }],
        see: '[signals and timers](../guides/signals-and-timers.md)',
      },
      {
        heading: 'ctx.receiveAny',
        signature: 'ctx.receiveAny(names, options)',
        of: [ctxFile, 'Ctx.receiveAny'],
        note: 'Takes the options of [ctx.receive](#ctxreceive).',
      },
      {
        heading: 'ctx.race',
        signature: 'ctx.race(branches)',
        of: [scopesFile, 'ScopeOps.race'],
        note: 'Returns `{ winner, value }`.',
        see: '[racing](../guides/racing.md)',
      },
      {
        heading: 'ctx.map',
        signature: 'ctx.map(items, each, options)',
        of: [scopesFile, 'ScopeOps.map'],
        tables: [{ types: [[scopesFile, 'MapOptions']] }],
      },
      { heading: 'ctx.shield', signature: 'ctx.shield(body)', of: [scopesFile, 'ScopeOps.shield'] },
      {
        heading: 'ctx.call',
        signature: 'ctx.call(procedure, input, options)',
        of: [ctxFile, 'Ctx.call'],
        tables: [{ types: [[childFile, 'ChildOptions']] }],
      },
      {
        heading: 'ctx.spawn',
        signature: 'ctx.spawn(procedure, input, options)',
        of: [ctxFile, 'Ctx.spawn'],
        note: 'Takes the options of [ctx.call](#ctxcall). Returns a handle with `id`, `result()`, `signal(name, payload, options)` and `cancel(reason, options)`.',
      },
      {
        heading: 'ctx.get',
        signature: 'ctx.get(procedure, id)',
        of: [ctxFile, 'Ctx.get'],
        note: 'Returns a handle like the one of [ctx.spawn](#ctxspawn).',
        see: '[child procedures](../guides/child-procedures.md)',
      },
      {
        heading: 'ctx.onRollback',
        signature: 'ctx.onRollback(name, undo)',
        of: [ctxFile, 'Ctx.onRollback'],
      },
      { heading: 'ctx.rollback', signature: 'ctx.rollback(reason)', of: [ctxFile, 'Ctx.rollback'] },
      {
        heading: 'ctx.version',
        signature: 'ctx.version(change, ...versions)',
        of: [ctxFile, 'Ctx.version'],
        see: '[branches](../guides/changing-code.md#branches)',
      },
      {
        heading: 'ctx.continueAs',
        signature: 'ctx.continueAs(input)',
        of: [ctxFile, 'Ctx.continueAs'],
        see: '[procedures that never end](../guides/long-lives.md)',
      },
      { heading: 'ctx.expose', signature: 'ctx.expose(name, value)', of: [ctxFile, 'Ctx.expose'] },
      { heading: 'ctx.on', signature: 'ctx.on(name, handler)', of: [ctxFile, 'Ctx.on'] },
      {
        heading: 'ctx.progress',
        signature: 'ctx.progress(progress)',
        of: [ctxFile, 'Ctx.progress'],
        tables: [{ title: 'property', types: [[progressFile, 'Progress']] }],
        see: '[state, progress and updates](../guides/state-and-updates.md)',
      },
      {
        heading: 'ctx.checkpoint',
        signature: 'ctx.checkpoint(name, state)',
        of: [ctxFile, 'Ctx.checkpoint'],
        see: '[checkpoints](../guides/checkpoints.md)',
      },
      {
        heading: 'ctx.gate',
        signature: 'ctx.gate(name, options)',
        of: [ctxFile, 'Ctx.gate'],
        note: '`human` takes the options of [ctx.human.approve](human.md#ctxhumanapprove) except `params` and `onReject`, and a `message`. `agent` takes the options of [ctx.agent.decide](agent.md#ctxagentdecide) except `material` and `key`, and a `question`. Returns `{ done: true, value, params, by }` or `{ done: false, reason, by }`.',
        tables: [
          {
            types: [
              [gateFile, 'Gate'],
              [stepFile, 'AttemptOptions'],
            ],
            shown: { params: '`object`', human: '`object`', agent: '`object`' },
          },
        ],
      },
      {
        heading: 'ctx.plan',
        signature: 'ctx.plan(tasks, options)',
        of: [ctxFile, 'Ctx.plan'],
        tables: [
          {
            types: [[planFile, 'PlanOptions']],
            shown: { use: '`{ [name]: Action }`', may: "`('add' | 'skip' | 'modify' | 'replan')[]`" },
          },
        ],
      },
      {
        heading: 'Tasks',
        of: [planFile, 'Task'],
        note: 'A task that acts:',
        tables: [
          {
            title: 'property',
            types: [[planFile, 'ActionTask']],
            without: ['verify'],
            shown: { use: '`string`' },
          },
        ],
      },
      {
        heading: 'Verifications',
        of: [planFile, 'VerifyTask'],
        tables: [
          {
            title: 'property',
            types: [
              [planFile, 'VerifyTask'],
              [planFile, 'JudgeOptions'],
            ],
            without: ['use'],
          },
        ],
      },
      {
        heading: 'Actions',
        of: [planFile, 'Action'],
        tables: [
          {
            title: 'property',
            types: [
              [planFile, 'Action'],
              [stepFile, 'AttemptOptions'],
            ],
          },
        ],
      },
      {
        heading: 'Checks by people',
        of: [planFile, 'HumanCheck'],
        note: 'Also takes the options of [every question](human.md#options-of-every-question) but `key` and `data`; the check of an action also `schema`.',
        tables: [{ title: 'property', types: [[planFile, 'HumanCheck']] }],
      },
      {
        heading: 'Checks by agents',
        of: [planFile, 'AgentCheck'],
        note: 'Also takes `minConfidence`, `timeout`, `attempts`, `details` and `history` of [decide](agent.md#ctxagentdecide); the check of an action also `agent`.',
        tables: [
          {
            title: 'property',
            types: [
              [planFile, 'AgentCheck'],
              [planFile, 'JudgeOptions'],
            ],
          },
        ],
      },
      { heading: 'ctx.now', signature: 'ctx.now()', of: [ctxFile, 'Ctx.now'] },
      { heading: 'ctx.random', signature: 'ctx.random()', of: [ctxFile, 'Ctx.random'] },
      { heading: 'ctx.uuid', signature: 'ctx.uuid()', of: [ctxFile, 'Ctx.uuid'] },
      { heading: 'ctx.log', signature: 'ctx.log.info(message, fields)', of: [ctxFile, 'Ctx.log'] },
    ],
  },
  {
    file: 'step.md',
    title: 'Steps',
    intro: '',
    sections: [
      {
        heading: 'ctx.step',
        signature: 'ctx.step(name, body, options)',
        of: [ctxFile, 'Ctx.step'],
        tables: [
          {
            types: [
              [stepFile, 'AttemptOptions'],
              [stepFile, 'StepOptions'],
            ],
          },
        ],
        see: '[steps and retries](../guides/steps-and-retries.md)',
      },
      { heading: 'retry', of: [stepFile, 'Retry'], tables: [{ types: [[stepFile, 'Retry']] }] },
      {
        heading: 'The argument of the body',
        of: [stepFile, 'StepCall'],
        tables: [{ types: [[stepFile, 'StepCall']], isOutput: true }],
      },
    ],
  },
  {
    file: 'human.md',
    title: 'Questions to people',
    intro: '',
    sections: [
      { heading: 'ctx.human', of: [humanFile, 'Human'], see: '[asking people](../guides/asking-people.md)' },
      {
        heading: 'Options of every question',
        note: '`approve`, `input`, `select`, `review` and `escalate` take these options; `escalate` rejects `timeout`.',
        tables: [{ types: everyQuestion, shown: { data } }],
      },
      {
        heading: 'ctx.human.approve',
        signature: 'ctx.human.approve(message, options)',
        of: [humanFile, 'Human.approve'],
        note: asEveryQuestion,
        tables: [
          {
            types: [
              [humanFile, 'ConsentOptions'],
              [askFile, 'OnTimeout'],
            ],
            without: ['risk', 'timeout'],
            shown: {
              params: '`object`',
              editable: '`string[]`',
              onReject: "`'return' | 'cancel-run'`",
              ...onTimeout,
            },
          },
        ],
      },
      {
        heading: 'ctx.human.input',
        signature: 'ctx.human.input(message, schema, options)',
        of: [humanFile, 'Human.input'],
        note: asEveryQuestion,
        tables: [
          {
            types: [
              [humanFile, 'InputOptions'],
              [askFile, 'OnTimeout'],
            ],
            without: ['timeout'],
            shown: { initial: 'part of the value', ...onTimeout },
          },
        ],
      },
      {
        heading: 'ctx.human.select',
        signature: 'ctx.human.select(message, choices, options)',
        of: [humanFile, 'Human.select'],
        note: asEveryQuestion,
        tables: [{ types: [[askFile, 'OnTimeout']], without: ['timeout'], shown: onTimeout }],
      },
      {
        heading: 'ctx.human.review',
        signature: 'ctx.human.review(message, artifact, options)',
        of: [humanFile, 'Human.review'],
        note: asEveryQuestion,
        tables: [
          {
            types: [
              [humanFile, 'ReviewOptions'],
              [askFile, 'OnTimeout'],
            ],
            without: ['timeout'],
            shown: { baseline: 'as the artifact', as: 'as in [details](#details)', ...onTimeout },
          },
        ],
      },
      {
        heading: 'ctx.human.escalate',
        signature: 'ctx.human.escalate(message, options)',
        of: [humanFile, 'Human.escalate'],
        note: 'Takes the [options of every question](#options-of-every-question) except `timeout`, and:',
        tables: [{ types: [[humanFile, 'EscalateOptions']] }],
      },
      {
        heading: 'ctx.human.notify',
        signature: 'ctx.human.notify(message, options)',
        of: [humanFile, 'Human.notify'],
        tables: [
          {
            types: [...everyQuestion, [humanFile, 'NotifyOptions']],
            only: ['to', 'links', 'details', 'data', 'severity'],
            shown: { data },
          },
        ],
      },
      {
        heading: 'onTimeout',
        note: `What happens when the \`timeout\` of a question passes. \`onTimeout\` without a \`timeout\` is rejected; with \`timeout: undefined\` the ask waits forever.

| value | for | outcome |
| --- | --- | --- |
| \`'reject'\` | approve | not approved, with \`timedOut: true\` |
| \`'approve'\` | approve | approved; requires a \`risk\` of 'low' or 'medium' |
| \`'fail'\` | approve, input, select, review | the call rejects with [ask-timed-out](../errors/ask-timed-out.md) |
| \`{ default: value }\` | input, select, review | returns the value, which must satisfy the schema or be one of the choices |
| \`'keep-waiting'\` | approve, input, select, review | the ask stays open and is marked overdue |
| \`'escalate'\` | approve, input, select, review | the ask stays open, is marked overdue, and is also shown to the \`escalateTo\` of the engine; logs a warning if the engine has none |
| \`{ escalateTo: audience }\` | approve, input, select, review | the ask stays open, is marked overdue, and is also shown to that audience |`,
      },
      {
        heading: 'Choices',
        of: [askFile, 'Choice'],
        note: 'A list of choices has at least one entry, and each value once.',
        tables: [{ title: 'property', types: [[askFile, 'ChoiceDetails']], shown: { value: '`string`' } }],
      },
      {
        heading: 'Risk',
        note: "A level (`'low'`, `'medium'`, `'high'` or `'critical'`), or an object:",
        tables: [{ title: 'property', types: [[askFile, 'RiskDetails']] }],
      },
      {
        heading: 'Impact',
        of: [askFile, 'Impact'],
        tables: [{ title: 'property', types: [[askFile, 'Impact']] }],
      },
      {
        heading: 'Details',
        of: [askFile, 'Section'],
        tables: [{ title: 'property', types: [[askFile, 'Section']] }],
      },
      {
        heading: 'Links',
        of: [askFile, 'Link'],
        tables: [{ title: 'property', types: [[askFile, 'Link']] }],
      },
      {
        heading: 'Alternatives',
        of: [askFile, 'Alternative'],
        tables: [{ title: 'property', types: [[askFile, 'Alternative']] }],
      },
    ],
  },
  {
    file: 'agent.md',
    title: 'Agents',
    intro: '',
    sections: [
      {
        heading: 'agent',
        signature: 'agent(options, body)',
        of: [agentFile, 'agent'],
        tables: [
          {
            types: [
              [agentFile, 'AgentSpec'],
              [stepFile, 'AttemptOptions'],
            ],
          },
        ],
        see: '[agents](../guides/agents.md)',
      },
      {
        heading: 'decider',
        signature: 'decider(name, body)',
        of: [agentFile, 'decider'],
        note: 'The body receives a question:',
        tables: [{ types: [[verdictFile, 'Question']], isOutput: true }],
      },
      {
        heading: 'The answer of a decider',
        of: [verdictFile, 'Verdict'],
        tables: [{ title: 'property', types: [[verdictFile, 'Verdict']] }],
      },
      {
        heading: 'ctx.agent',
        signature: 'ctx.agent(agent, input, options)',
        of: [agentFile, 'AgentOps.call'],
        tables: [
          {
            types: [
              [agentFile, 'AgentCallOptions'],
              [stepFile, 'AttemptOptions'],
            ],
          },
        ],
        note: 'See [retry](step.md#retry) for the options of `retry`.',
      },
      { heading: 'call.usage', signature: 'call.usage(usage)', of: [agentFile, 'AgentCall.usage'] },
      {
        heading: 'ctx.agent.decide',
        signature: 'ctx.agent.decide(question, choices, options)',
        of: [agentFile, 'AgentOps.decide'],
        note: 'See [choices](human.md#choices) for the choices. People, if they are asked, see `details` and `history`.',
        tables: [
          {
            types: [
              [agentFile, 'DecideOptions'],
              [askFile, 'AskOptions'],
            ],
            only: [
              'fallback',
              'material',
              'agent',
              'minConfidence',
              'timeout',
              'attempts',
              'key',
              'details',
              'history',
            ],
            shown: { fallback: '`string | { ask: AskOptions } | { fail: string }`' },
          },
        ],
        see: '[agents](../guides/agents.md)',
      },
      {
        heading: 'The decision',
        of: [agentFile, 'Decision'],
        tables: [
          { types: [[agentFile, 'Decision']], isOutput: true, shown: { choice: 'one of the choices' } },
        ],
      },
    ],
  },
  {
    file: 'engine.md',
    title: 'Engines',
    intro:
      'An engine is a client that also executes runs: it has all methods of a [client](client.md) and an [inbox](inbox.md).',
    sections: [
      {
        heading: 'createEngine',
        signature: 'createEngine(options)',
        of: [engineFile, 'createEngine'],
        tables: [{ types: [[optionsFile, 'EngineOptions']], shown: { plugins: '`Plugin[]`' } }],
        see: '[operating](../guides/operating.md), [determinism](../guides/determinism.md) for `determinism`, and [steps and retries](../guides/steps-and-retries.md) for `bugs`',
      },
      {
        heading: 'retention',
        of: [optionsFile, 'Retention'],
        tables: [{ types: [[optionsFile, 'Retention']] }],
        see: '[retention and backups](../guides/retention.md)',
      },
      {
        heading: 'policy',
        note: 'The policy of an engine receives the action:',
        tables: [{ title: 'property', types: [[policyFile, 'PolicyQuestion']], isOutput: true }],
      },
      {
        heading: 'check',
        signature: 'engine.check(what)',
        of: [clientFile, 'Engine.check'],
        note: '`checkRuns({ store, procedures }, what)` does the same without an engine. `what` is `{ exports }` with files of exported runs, `{ run }` with the id of a run, or a filter:',
        tables: [{ types: [[clientFile, 'CheckFilter']], without: ['run', 'exports'] }],
        see: '[checking before a deploy](../guides/changing-code.md#checking-before-a-deploy)',
      },
      {
        heading: 'unusedBranches',
        signature: 'unusedBranches(checks)',
        of: [checkFile, 'unusedBranches'],
      },
      {
        heading: 'stop',
        signature: 'engine.stop(options)',
        of: [clientFile, 'Engine.stop'],
        tables: [{ types: [[clientFile, 'StopOptions']] }],
      },
      {
        heading: 'observe',
        of: [observerFile, 'Observer'],
        note: 'Every method is required:',
        tables: [{ title: 'method', types: [[observerFile, 'Observer']], hasMethods: true, isOutput: true }],
        see: '[an audit of calls](../guides/operating.md#an-audit-of-calls) and [OpenTelemetry](../guides/opentelemetry.md)',
      },
      ...observed('called', 'ObservedCall', 'CallObservation'),
      ...observed('attempted', 'ObservedAttempt', 'AttemptObservation'),
      {
        heading: 'The outcome of an attempt',
        of: [observerFile, 'AttemptReport'],
        tables: [{ types: [[observerFile, 'AttemptReport']], isOutput: true }],
      },
      ...observed('closed', 'ObservedAsk'),
      ...observed('ended', 'ObservedEnd'),
      ...observed('committed', 'ObservedCommit'),
      ...observed('attached', 'ObservedEngine'),
    ],
  },
  {
    file: 'client.md',
    title: 'Clients and runs',
    intro:
      'An engine has the same methods as a client. In a procedure, outside its steps, all but `get` throw [nondeterministic-call](../errors/nondeterministic-call.md): use `ctx.call`, `ctx.spawn` and `ctx.get` of [procedures](procedure.md) there.',
    sections: [
      {
        heading: 'createClient',
        signature: 'createClient(options)',
        of: [engineFile, 'createClient'],
        tables: [{ types: [[clientFile, 'ClientOptions']] }],
        see: '[operating](../guides/operating.md)',
      },
      {
        heading: 'run',
        signature: 'client.run(procedure, input, options)',
        of: [clientFile, 'Client.run'],
        tables: [{ types: [[clientFile, 'RunOptions']] }],
      },
      {
        heading: 'runOrGet',
        signature: 'client.runOrGet(procedure, input, options)',
        of: [clientFile, 'Client.runOrGet'],
        note: 'Takes the options of [run](#run), of which `id` is required, and:',
        tables: [{ types: [[clientFile, 'RunOrGetOptions']], without: ['id'] }],
      },
      { heading: 'get', signature: 'client.get(procedure, id)', of: [clientFile, 'Client.get'] },
      {
        heading: 'list',
        signature: 'client.list(filter)',
        of: [clientFile, 'Client.list'],
        tables: [{ types: [[clientFile, 'RunFilter']] }],
      },
      {
        heading: 'log',
        signature: 'client.log(id, page)',
        of: [clientFile, 'Client.log'],
        tables: [{ types: [[clientFile, 'LogPage']] }],
      },
      {
        heading: 'retry',
        signature: 'client.retry(id, options)',
        of: [clientFile, 'Client.retry'],
        tables: [{ types: [[messageFile, 'ActOptions']] }],
      },
      {
        heading: 'fork',
        signature: 'client.fork(id, from, changes)',
        of: [clientFile, 'Client.fork'],
        note: '`from` is `{ position }`, just before the result at that position, or `{ checkpoint }`, with the id of a checkpoint or of an ask of the run.',
        tables: [{ types: [[clientFile, 'ForkChanges']] }],
        see: '[forking and retrying](../guides/forking-and-retrying.md)',
      },
      {
        heading: 'previewRetry',
        signature: 'client.previewRetry(id)',
        of: [clientFile, 'Client.previewRetry'],
      },
      {
        heading: 'previewFork',
        signature: 'client.previewFork(id, from, changes)',
        of: [clientFile, 'Client.previewFork'],
        note: 'Both previews return:',
        tables: [{ title: 'field', types: [[previewFile, 'RepeatPreview']], isOutput: true }],
      },
      {
        heading: 'delete',
        signature: 'client.delete(id, options)',
        of: [clientFile, 'Client.delete'],
        tables: [{ types: [[messageFile, 'ActOptions']] }],
      },
      {
        heading: 'export',
        signature: 'client.export(id, options)',
        of: [clientFile, 'Client.export'],
        tables: [{ types: [[messageFile, 'ActOptions']] }],
      },
      {
        heading: 'exportStream',
        signature: 'client.exportStream(id, options)',
        of: [clientFile, 'Client.exportStream'],
        note: 'Takes the options of [export](#export).',
      },
      {
        heading: 'import',
        signature: 'client.import(run, options)',
        of: [clientFile, 'Client.import'],
        tables: [{ types: [[clientFile, 'ImportOptions']] }],
        see: '[retention and moving a run](../guides/retention.md)',
      },
      {
        heading: 'cancel',
        signature: 'client.cancel(id, reason, options)',
        of: [clientFile, 'Client.cancel'],
        note: '`run.cancel(reason, options)` does the same.',
        tables: [{ types: [[messageFile, 'CancelOptions']] }],
        see: '[cancelling](../guides/cancelling.md)',
      },
      {
        heading: 'resume',
        signature: 'client.resume({ checkpoint, resolution }, { as })',
        of: [clientFile, 'Client.resume'],
        note: 'Takes the options of [inbox.answer](inbox.md#inboxanswer).',
      },
      { heading: 'stop', signature: 'client.stop()', of: [clientFile, 'Client.stop'] },
      {
        heading: 'result',
        signature: 'run.result(options)',
        of: [clientFile, 'RunHandle.result'],
        tables: [{ types: [[clientFile, 'ResultOptions']] }],
      },
      { heading: 'status', signature: 'run.status()', of: [clientFile, 'RunHandle.status'] },
      {
        heading: 'signal',
        signature: 'run.signal(name, payload, options)',
        of: [clientFile, 'RunHandle.signal'],
        note: 'For a signal without a payload, pass `undefined` before the options.',
        tables: [{ types: [[messageFile, 'SignalOptions']] }],
        see: '[signals and timers](../guides/signals-and-timers.md)',
      },
      {
        heading: 'update',
        signature: 'run.update(name, input, options)',
        of: [clientFile, 'RunHandle.update'],
        tables: [{ types: [[clientFile, 'UpdateOptions']] }],
      },
      {
        heading: 'state',
        signature: 'run.state(name, options)',
        of: [clientFile, 'RunHandle.state'],
        tables: [{ types: [[clientFile, 'StateOptions']] }],
        see: '[state, progress and updates](../guides/state-and-updates.md)',
      },
    ],
  },
  {
    file: 'checkpoints.md',
    title: 'Checkpoints',
    intro:
      '`engine.checkpoints` and `client.checkpoints` hold the checkpoints of all runs. [Checkpoints](../guides/checkpoints.md) explains them.',
    sections: [
      {
        heading: 'checkpoints.create',
        signature: 'checkpoints.create(run, state, options)',
        of: [checkpointFile, 'Checkpoints.create'],
        tables: [{ types: [[checkpointFile, 'CheckpointOptions']] }],
      },
      {
        heading: 'checkpoints.load',
        signature: 'checkpoints.load(checkpointOrRun)',
        of: [checkpointFile, 'Checkpoints.load'],
      },
      {
        heading: 'checkpoints.latest',
        signature: 'checkpoints.latest(run)',
        of: [checkpointFile, 'Checkpoints.latest'],
      },
      {
        heading: 'checkpoints.list',
        signature: 'checkpoints.list(run)',
        of: [checkpointFile, 'Checkpoints.list'],
      },
      {
        heading: 'checkpoints.listAll',
        signature: 'checkpoints.listAll(filter)',
        of: [checkpointFile, 'Checkpoints.listAll'],
        tables: [{ types: [[checkpointFile, 'CheckpointFilter']] }],
      },
      {
        heading: 'checkpoints.delete',
        signature: 'checkpoints.delete(checkpointOrRun)',
        of: [checkpointFile, 'Checkpoints.delete'],
      },
      {
        heading: 'checkpoints.cleanup',
        signature: 'checkpoints.cleanup(what)',
        of: [checkpointFile, 'Checkpoints.cleanup'],
        tables: [{ types: [[checkpointFile, 'CheckpointCleanup']] }],
      },
    ],
  },
  {
    file: 'inbox.md',
    title: 'The inbox',
    intro: '`engine.inbox` and `client.inbox` hold the asks of all runs.',
    sections: [
      {
        heading: 'inbox.list',
        signature: 'inbox.list(filter)',
        of: [clientFile, 'Inbox.list'],
        tables: [{ types: [[clientFile, 'AskFilter']] }],
        see: '[asking people](../guides/asking-people.md)',
      },
      {
        heading: 'inbox.count',
        signature: 'inbox.count(filter)',
        of: [clientFile, 'Inbox.count'],
        note: 'Takes the options of [inbox.list](#inboxlist) except `archived`, `limit` and `cursor`.',
      },
      { heading: 'inbox.get', signature: 'inbox.get(ask)', of: [clientFile, 'Inbox.get'] },
      {
        heading: 'inbox.next',
        signature: 'inbox.next(filter)',
        of: [clientFile, 'Inbox.next'],
        tables: [{ types: [[clientFile, 'NextFilter']] }],
      },
      {
        heading: 'inbox.watch',
        signature: 'inbox.watch(options)',
        of: [clientFile, 'Inbox.watch'],
        tables: [{ types: [[clientFile, 'WatchOptions']] }],
      },
      {
        heading: 'inbox.answer',
        signature: 'inbox.answer(ask, answer, { as })',
        of: [clientFile, 'Inbox.answer'],
        note: 'The ask is an id, or an object with `run` and `key`.',
        tables: [
          { types: [[clientFile, 'AskByKey']], title: 'property' },
          { types: [[answeringFile, 'As']] },
        ],
        see: '[asking people](../guides/asking-people.md)',
      },
      {
        heading: 'inbox.notices',
        signature: 'inbox.notices(filter)',
        of: [clientFile, 'Inbox.notices'],
        tables: [{ types: [[clientFile, 'NoticeFilter']] }],
      },
      {
        heading: 'inbox.readNotices',
        signature: 'inbox.readNotices(notices, { as })',
        of: [clientFile, 'Inbox.readNotices'],
        tables: [{ types: [[clientFile, 'NoticeReader']] }],
      },
    ],
  },
  {
    file: 'plugins.md',
    title: 'Plug-ins',
    intro:
      'A plug-in adds work of its own to an engine. [Plug-ins](../guides/plugins.md) shows how to write one. [Channels](channels.md) and [webhooks](server.md#webhooks) are plug-ins.',
    sections: [
      {
        heading: 'Plugin',
        of: [pluginFile, 'Plugin'],
        tables: [{ types: [[pluginFile, 'Plugin']], title: 'member' }],
      },
      { heading: 'start', signature: 'plugin.start(client, host)', of: [pluginFile, 'Plugin.start'] },
      {
        heading: 'host',
        of: [pluginFile, 'PluginHost'],
        tables: [{ types: [[pluginFile, 'PluginHost']], title: 'property', isOutput: true }],
      },
      {
        heading: 'host.follow',
        signature: 'host.follow(what, handle, options)',
        of: [pluginFile, 'PluginHost.follow'],
        tables: [{ types: [[pluginFile, 'FollowFeedOptions']] }],
      },
      {
        heading: 'host.answer',
        signature: 'host.answer(ask, answer, by)',
        of: [pluginFile, 'PluginHost.answer'],
        tables: [
          {
            types: [
              [answeringFile, 'As'],
              [answeringFile, 'AnsweredBy'],
            ],
            title: 'property of by',
          },
        ],
      },
    ],
  },
  {
    file: 'channels.md',
    title: 'Channels',
    intro:
      'A channel delivers asks and notices to another place. [Channels](../guides/channels.md) shows how to use one and how to write one.',
    sections: [
      {
        heading: 'channels',
        signature: 'channels(list, options)',
        of: ['channels/src/channels.ts', 'channels'],
        tables: [{ types: [[channelFile, 'ChannelsOptions']] }],
      },
      {
        heading: 'Channel',
        of: [channelFile, 'Channel'],
        tables: [{ types: [[channelFile, 'Channel']], title: 'member' }],
      },
      { heading: 'can', tables: [{ types: [[channelFile, 'ChannelAbilities']], title: 'property' }] },
      { heading: 'wants', signature: 'channel.wants(ask)', of: [channelFile, 'Channel.wants'] },
      {
        heading: 'recipients',
        signature: 'channel.recipients(ask)',
        of: [channelFile, 'Channel.recipients'],
        tables: [{ types: [[channelFile, 'Recipient']], title: 'property' }],
      },
      {
        heading: 'deliver',
        signature: 'channel.deliver(ask, call)',
        of: [channelFile, 'Channel.deliver'],
        tables: [
          { types: [[channelFile, 'DeliverCall']], title: 'property of the call', isOutput: true },
          { types: [[channelFile, 'Delivered']], title: 'property of the result' },
        ],
      },
      {
        heading: 'update',
        signature: 'channel.update(ref, ask, call)',
        of: [channelFile, 'Channel.update'],
      },
      {
        heading: 'notices',
        of: [channelFile, 'NoticeDelivery'],
        tables: [
          { types: [[channelFile, 'NoticeDelivery']], title: 'member', hasMethods: true },
          { types: [[channelFile, 'NoticeCall']], title: 'property of the call', isOutput: true },
        ],
      },
      {
        heading: 'start',
        signature: 'channel.start(submit)',
        of: [channelFile, 'Channel.start'],
      },
      {
        heading: 'submit',
        signature: 'submit(ask, reply, sender)',
        of: [channelFile, 'Submit'],
        tables: [{ types: [[channelFile, 'Sender']], title: 'property of the sender' }],
      },
      { heading: 'links', tables: [{ types: [[linkFile, 'LinkOptions']] }] },
      {
        heading: 'folder',
        signature: 'folder(path, options)',
        of: ['channels/src/folder/folder.ts', 'folder'],
        tables: [{ types: [['channels/src/folder/folder.ts', 'FolderOptions']] }],
      },
      {
        heading: 'mail',
        signature: 'mail(options)',
        of: ['channels/src/mail/mail.ts', 'mail'],
        tables: [{ types: [['channels/src/mail/mail.ts', 'MailOptions']] }],
      },
      {
        heading: 'slack',
        signature: 'slack(options)',
        of: ['slack/src/slack.ts', 'slack'],
        tables: [{ types: [['slack/src/slack.ts', 'SlackOptions']] }],
      },
    ],
  },
  {
    file: 'server.md',
    title: 'The server',
    intro: 'The functions of `@pawl/server`. [The server](../guides/server.md) explains them.',
    sections: [
      {
        heading: 'createServer',
        signature: 'createServer(options)',
        of: ['server/src/server.ts', 'createServer'],
        tables: [{ types: [[serverFile, 'ServerOptions']] }],
      },
      {
        heading: 'auth',
        note: 'An `auth` receives the `Request` and returns `null`, or an identity:',
        tables: [{ title: 'property', types: [[serverFile, 'Identity']], shown: { actor: '`Actor`' } }],
      },
      { heading: 'Roles', of: ['server/src/auth/roles.ts', 'Role'] },
      { heading: 'tokens', signature: 'tokens(file)', of: ['server/src/auth/tokens.ts', 'tokens'] },
      {
        heading: 'proxyHeader',
        signature: 'proxyHeader(options)',
        of: ['server/src/auth/proxy-header.ts', 'proxyHeader'],
        tables: [{ types: [['server/src/auth/proxy-header.ts', 'ProxyHeaderOptions']] }],
      },
      { heading: 'local', signature: 'local()', of: ['server/src/auth/local.ts', 'local'] },
      {
        heading: 'webhooks',
        signature: 'webhooks(options)',
        of: ['server/src/hooks/webhooks.ts', 'webhooks'],
        tables: [{ types: [['server/src/hooks/webhooks.ts', 'WebhookOptions']] }],
        see: '[webhooks](../guides/server.md#webhooks)',
      },
      {
        heading: 'server.listen',
        signature: 'server.listen({ port, host })',
        of: [serverFile, 'Server.listen'],
      },
      { heading: 'server.stop', signature: 'server.stop()', of: [serverFile, 'Server.stop'] },
      { heading: 'toNode', signature: 'toNode(server)', of: ['server/src/server.ts', 'toNode'] },
    ],
  },
  {
    file: 'stores.md',
    title: 'Stores',
    intro: '',
    sections: [
      {
        heading: 'sqlite',
        signature: 'sqlite(file, options)',
        of: ['storage-sqlite/src/sqlite.ts', 'sqlite'],
        tables: [{ types: [['storage-sqlite/src/sqlite.ts', 'SqliteOptions']] }],
        see: '[SQLite](../guides/sqlite.md)',
      },
      {
        heading: 'postgres',
        signature: 'postgres(connection, options)',
        of: ['storage-postgres/src/postgres.ts', 'postgres'],
        tables: [{ types: [['storage-postgres/src/postgres.ts', 'PostgresOptions']] }],
        see: '[PostgreSQL](../guides/postgres.md)',
      },
      {
        heading: 'memory',
        signature: 'memory(options)',
        of: ['testing/src/memory-store.ts', 'memory'],
        note: '`memory` is exported by `@pawl/testing`.',
        tables: [{ types: [['testing/src/memory-store.ts', 'MemoryOptions']] }],
      },
    ],
  },
  {
    file: 'testing.md',
    title: 'Testing',
    intro: 'The functions of `@pawl/testing`.',
    sections: [
      {
        heading: 'testEngine',
        signature: 'testEngine(options)',
        of: [testFile, 'testEngine'],
        note: 'Takes the options of [createEngine](engine.md#createengine) except `channels`, `links` and `selfApproval`, and:',
        tables: [
          {
            types: [
              [testFile, 'TestSettings'],
              ['testing/src/doubles.ts', 'Doubles'],
            ],
            shown: { store: '`Store`', steps: '`{ [name]: unknown }`', agents: '`{ [name]: unknown }`' },
          },
        ],
        see: '[testing](../guides/testing.md)',
      },
      {
        heading: 'People',
        of: ['testing/src/people.ts', 'Person'],
        tables: [{ title: 'property', types: [['testing/src/people.ts', 'Person']] }],
      },
      {
        heading: 'engine.humans',
        signature: 'engine.humans(...people)',
        of: [testFile, 'TestEngine.humans'],
      },
      { heading: 'engine.advance', signature: 'engine.advance(time)', of: [testFile, 'TestEngine.advance'] },
      { heading: 'engine.crash', signature: 'engine.crash(when)', of: [testFile, 'TestEngine.crash'] },
      { heading: 'engine.calls', signature: "engine.calls['charge']", of: [testFile, 'TestEngine.calls'] },
      {
        heading: 'checkDeterminism',
        signature: 'checkDeterminism(procedure, options)',
        of: ['testing/src/determinism.ts', 'checkDeterminism'],
        tables: [
          {
            types: [
              ['testing/src/determinism.ts', 'DeterminismOptions'],
              ['testing/src/doubles.ts', 'Doubles'],
            ],
            shown: { steps: '`{ [name]: unknown }`', agents: '`{ [name]: unknown }`' },
          },
        ],
        note: 'Takes `input` for one input or `inputs` for several, and:',
      },
      {
        heading: 'explore',
        signature: 'explore(procedure, input, options)',
        of: ['testing/src/explore/explore.ts', 'explore'],
        tables: [
          {
            types: [
              ['testing/src/explore/options.ts', 'ExploreOptions'],
              ['testing/src/doubles.ts', 'Doubles'],
            ],
            without: ['humans'],
            shown: { steps: '`{ [name]: unknown }`', agents: '`{ [name]: unknown }`' },
          },
          { title: 'rule', types: [['testing/src/explore/options.ts', 'Rule']] },
          {
            title: 'result',
            types: [['testing/src/explore/exploration.ts', 'Exploration']],
            isOutput: true,
          },
          {
            title: 'violation',
            types: [['testing/src/explore/exploration.ts', 'Violation']],
            isOutput: true,
          },
        ],
        see: '[exploring](../guides/exploring.md)',
      },
      {
        heading: 'oneOf',
        signature: 'oneOf(first, ...others)',
        of: ['testing/src/explore/one-of.ts', 'oneOf'],
      },
    ],
  },
]
