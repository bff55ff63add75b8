import './styles/index.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { openSession } from './session.ts'

// The page has shown where its parts will be. That stays until it is known who is there.
const root = document.getElementById('app')
void openSession().then(() => {
  root?.replaceChildren()
  if (root) render(<App />, root)
})
