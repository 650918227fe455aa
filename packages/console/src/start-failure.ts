/** Over the first page if the console itself could not be loaded. Made without React, which is part of what did not load. */
import { reloadOnce, serviceState } from './api/deployment.ts'
import buttonStyles from './ui/button.module.css'
import loadStyles from './ui/load-later.module.css'
import noteStyles from './ui/note.module.css'

export async function showStartFailure(): Promise<void> {
  if ((await serviceState()) === 'other version' && reloadOnce()) return
  const button = document.createElement('button')
  button.type = 'button'
  button.className = `${buttonStyles.button} ${buttonStyles.small}`
  button.textContent = 'Try again'
  // Not before the service responds: a failed reload would show the browser's own error page.
  button.onclick = async () => (await serviceState()) !== 'unreachable' && location.reload()
  const note = document.createElement('div')
  note.className = `${noteStyles.note} ${noteStyles.danger}`
  note.append('The console could not be loaded. Check your connection.', button)
  const alert = document.createElement('div')
  alert.role = 'alert'
  alert.className = loadStyles.failed!
  alert.append(note)
  document.body.append(alert)
}
