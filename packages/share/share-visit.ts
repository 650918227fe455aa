/** Which link this is, and what the browser remembers of the visit. */

const [, , written = '', variant] = location.pathname.split('/')
export const token = decodeURIComponent(written)
/** Part of a page of somebody else, whose focus and scrolling stay its own. */
export const isEmbedded = variant === 'embed'

const KEY = `share:${token}`

/** Runs what browsers refuse to frames of other sites if they keep nothing for these: then a reload asks for the password again. */
function withStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage)
  } catch {
    return null
  }
}

/** A reload within the hour needs no password; another tab does. */
export const rememberedGrant = (): string | null => withStorage((storage) => storage.getItem(KEY))
export const rememberGrant = (grant: string): void => void withStorage((storage) => storage.setItem(KEY, grant))
export const forgetGrant = (): void => void withStorage((storage) => storage.removeItem(KEY))

/** In a page of somebody else only while its visitor is in this frame. */
export function focusOn(target: HTMLElement): void {
  if (!isEmbedded || document.hasFocus()) target.focus({ preventScroll: isEmbedded })
}
