/** Whether the service responds, and whether it has another version of the console than this page. */

const RELOADED = 'gt-reloaded'

type ServiceState = 'unreachable' | 'same version' | 'other version'

/** The address of the script that a page starts with; it changes with every version. */
const entryOf = (page: Document) => page.querySelector('script[type=module][src]')?.getAttribute('src') ?? ''

export async function serviceState(): Promise<ServiceState> {
  try {
    const response = await fetch('/app/', { cache: 'no-store' })
    if (!response.ok) return 'unreachable'
    const current = new DOMParser().parseFromString(await response.text(), 'text/html')
    return entryOf(current) === entryOf(document) ? 'same version' : 'other version'
  } catch {
    return 'unreachable'
  }
}

/** Reloads a version that was replaced, and returns whether it does. Each version reloads once, or two replicas could keep a tab busy. */
export function reloadOnce(): boolean {
  const entry = entryOf(document)
  const reloaded = (sessionStorage.getItem(RELOADED) ?? '').split(' ')
  if (reloaded.includes(entry)) return false
  sessionStorage.setItem(RELOADED, [...reloaded, entry].join(' ').trim())
  location.reload()
  return true
}
