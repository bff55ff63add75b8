import './styles/index.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { openSession } from './session.ts'

const root = document.getElementById('app')
if (root) render(<App />, root)
void openSession()
