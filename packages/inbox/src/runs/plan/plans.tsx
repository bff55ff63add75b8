import '../../styles/plan.css'
import type { LogEntry, Run, State } from '@pawl/server/internal'
import { useMemo, useRef, useState } from 'preact/hooks'
import { askHref } from '../../router.ts'
import { Text } from '../../text/text.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Edges } from './edges.tsx'
import { overlay, type Plan, plansIn, type Task, type TaskState } from './plan.ts'
import { planTexts as texts } from './texts.ts'

interface Props {
  readonly run: Run
  readonly entries: readonly LogEntry[]
}

/** The plans of a run, layer by layer, with their checks. Nothing is shown for a run that has none. */
export function Plans({ states, run, entries }: Props & { readonly states: readonly State[] }) {
  const plans = useMemo(() => plansIn(states), [states])
  return (
    <>
      {plans.map((plan) => (
        <PlanSection key={plan.name} plan={plan} run={run} entries={entries} />
      ))}
    </>
  )
}

function PlanSection({ plan: given, run, entries }: Props & { readonly plan: Plan }) {
  const box = useRef<HTMLDivElement>(null)
  const { plan, asks } = useMemo(() => overlay(given, entries, run), [given, entries, run])
  return (
    <section class="plan" aria-label={texts.plan(plan.name)}>
      <div class="section-head">
        <h2>{texts.plan(plan.name)}</h2>
        <span class="faint number plan-count">{texts.ended(plan.ended, plan.tasks)}</span>
      </div>
      {plan.layers.length === 0 && plan.tasks > 0 && <p class="faint">{texts.tooLarge}</p>}
      <div class="plan-box" ref={box}>
        <Edges box={box} plan={plan} />
        <ol class="plan-layers">
          {plan.layers.map((layer, index) => (
            <li key={index}>
              <Layer n={index + 1} tasks={layer} asks={asks} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}

const firstTasks = 24

function Layer(props: {
  readonly n: number
  readonly tasks: readonly Task[]
  readonly asks: ReadonlyMap<string, string>
}) {
  const [isOpen, setOpen] = useState(false)
  const { n, tasks, asks } = props
  const shown = isOpen ? tasks : tasks.slice(0, firstTasks)
  return (
    <div class="plan-layer">
      <h3>{texts.layer(n)}</h3>
      <ul>
        {shown.map((task) => (
          <li key={task.id}>
            <TaskBox task={task} ask={asks.get(task.id)} />
          </li>
        ))}
        {shown.length < tasks.length && (
          <li>
            <button type="button" class="small" onClick={() => setOpen(true)}>
              {texts.more(tasks.length - shown.length)}
            </button>
          </li>
        )}
      </ul>
    </div>
  )
}

const icons: Readonly<Record<TaskState, IconName | null>> = {
  later: null,
  now: 'runs',
  asked: 'approve',
  done: 'check',
  skipped: 'cross',
  failed: 'alert',
  undone: 'undo',
}

function TaskBox({ task, ask }: { readonly task: Task; readonly ask: string | undefined }) {
  const { id, use, needs, check, state, isAdded } = task
  const icon = icons[state]
  const notes = [
    use === undefined ? texts.judges : check === undefined ? null : texts.checks[check],
    isAdded ? texts.added : null,
  ].filter((note) => note !== null)
  const inside = (
    <>
      <span class="task-name">
        {icon === null ? <span class="task-dot" /> : <Icon name={icon} />}
        <Text>{id}</Text>
      </span>
      {state !== 'done' && state !== 'later' && <span class="task-state">{texts.states[state]}</span>}
      {notes.map((note) => (
        <span class="task-note faint" key={note}>
          {note !== texts.added && (
            <Icon name={use === undefined || check === 'agent' ? 'decide' : 'approve'} />
          )}
          {note}
        </span>
      ))}
      <span class="hidden">
        {(state === 'done' || state === 'later') && `, ${texts.states[state]}`}
        {needs.length > 0 && `, ${texts.needs(needs)}`}
      </span>
    </>
  )
  const kind = `task ${state}${use === undefined ? ' judges' : ''}${check === undefined ? '' : ' checked'}`
  return state === 'asked' && ask !== undefined ? (
    <a class={kind} data-task={id} href={askHref(ask)}>
      {inside}
    </a>
  ) : (
    <div class={kind} data-task={id}>
      {inside}
    </div>
  )
}
