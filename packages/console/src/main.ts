/** Asks who is there before anything large runs: the answer comes while the console is being read. */
import './styles/index.css'
import { resume } from './api/session.ts'

void resume()
void import('./console.tsx')
