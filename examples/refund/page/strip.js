// The strip above the inbox: the worker, what was paid, the next thing to do, and the button that kills.

const strip = document.createElement('aside')
strip.id = 'demo'
strip.setAttribute('aria-label', 'Demo')
strip.hidden = true

const worker = add(strip, 'p', 'demo-worker')
const dot = add(worker, 'span', 'demo-dot')
dot.setAttribute('aria-hidden', 'true')
const workerText = add(worker, 'span')
const workerProcess = add(worker, 'span', 'demo-process')
const progress = add(strip, 'p', 'demo-progress')
const paid = add(strip, 'p', 'demo-paid')
const paidOrders = add(paid, 'span')
const paidEuros = add(paid, 'span', 'demo-euros')
const task = add(strip, 'p', 'demo-task')
const taskNumber = add(task, 'span', 'demo-number')
const taskText = add(task, 'span')
taskText.setAttribute('role', 'status')
const taskLink = add(task, 'a')
const buttons = add(strip, 'div', 'demo-buttons')
const second = add(buttons, 'a', 'demo-second')
second.target = '_blank'
second.rel = 'noopener'
const button = add(buttons, 'button')
button.type = 'button'

const words = { starting: 'starts', working: 'works', killed: 'killed', ended: 'ended' }
let isDead = false
let isBusy = false

button.addEventListener('click', async () => {
  if (isBusy) return
  setBusy(true)
  try {
    await fetch(isDead ? '/demo/start' : '/demo/kill', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
  } catch {
    // The next look says that the demo has ended.
  }
  setBusy(false)
  await look()
})

document.body.prepend(strip)
void repeat()

async function repeat() {
  await look()
  setTimeout(() => void repeat(), strip.hidden ? 300 : 1000)
}

async function look() {
  try {
    const reply = await fetch('/demo/state')
    if (reply.ok) show(await reply.json())
    else strip.hidden = true
  } catch {
    strip.className = 'gone'
    set(workerProcess, '')
    set(workerText, 'The demo has ended. Run npm run demo again.')
  }
}

function show(state) {
  const { state: doing, number, pid } = state.worker
  isDead = doing === 'killed' || doing === 'ended'
  strip.hidden = false
  strip.className = isDead ? 'dead' : 'alive'
  set(workerText, `Worker ${number} ${words[doing]}`)
  set(workerProcess, `, process ${pid}`)
  set(progress, state.progress === null ? '' : describe(state.progress))
  const { orders, euros, twice } = state.paid
  const times = twice === 0 ? 'none twice' : `${twice} twice`
  set(paidOrders, `${count(orders, 'order')} paid, ${times}`)
  set(paidEuros, `, ${euros.toFixed(2)} EUR in all`)
  const { number: at, of, text, link, needsSecondTab } = state.task
  set(taskNumber, at === 0 ? '' : `${at} of ${of}`)
  set(taskText, text)
  taskLink.hidden = link === undefined || location.hash === link.href
  if (link !== undefined) {
    taskLink.href = link.href
    set(taskLink, link.text)
  }
  second.hidden = needsSecondTab !== true || location.hostname === 'localhost'
  second.href = state.second.url
  set(second, `Second tab, as ${state.second.name}`)
  if (!isBusy) set(button, isDead ? 'Start a worker' : 'Kill the worker')
}

function describe({ replayed, ran }) {
  const ranText = `ran ${count(ran, 'step')}`
  return replayed === 0 ? ranText : `replayed ${count(replayed, 'operation')}, ${ranText}`
}

function setBusy(value) {
  isBusy = value
  button.setAttribute('aria-disabled', String(value))
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Changes a text only if it differs, so that a screen reader is told once. */
function set(element, text) {
  if (element.textContent !== text) element.textContent = text
}

function add(parent, tag, name = '') {
  const element = document.createElement(tag)
  if (name !== '') element.className = name
  return parent.appendChild(element)
}
