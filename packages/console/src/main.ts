/** Resumes the session first: the response arrives while the rest of the console loads. */
import './styles/index.css'
import { resume } from './api/session.ts'
import { showStartFailure } from './start-failure.ts'

void resume()
import('./console.tsx').catch(showStartFailure)
