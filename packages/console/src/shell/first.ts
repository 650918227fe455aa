/** The page before the console runs (index.html): the console takes its place, with what somebody did there meanwhile. */
import { useLayoutEffect } from 'react'

interface Early {
  email: string
  password: string
  /** The field that they stand in. */
  focused: 'username' | 'current-password' | null
  pressed: 'sign-in' | 'demo' | 'show' | null
}

const NOTHING: Early = { email: '', password: '', focused: null, pressed: null }
let early: Early | null = null

function takeOver(): void {
  const first = document.getElementById('first')
  if (!first) return
  const field = (name: string) => first.querySelector<HTMLInputElement>(`input[autocomplete='${name}']`)
  // Remembered by the page itself: the console's own first field has the focus already.
  const focused = (['username', 'current-password'] as const).find((name) => name === first.dataset['focused'])
  const isComplete = first.querySelector('form')?.checkValidity() ?? false
  const pressed = (first.dataset['pressed'] as Early['pressed']) ?? null
  early = {
    email: field('username')?.value ?? '',
    password: field('current-password')?.value ?? '',
    focused: focused ?? null,
    pressed: pressed === 'sign-in' && !isComplete ? null : pressed,
  }
  first.remove()
}

export const isFirstSeen = () => document.getElementById('first') !== null

/** For what is shown instead of the first page; where it is only about to be, `isThere` is false. */
export function useTakeOver(isThere = true): void {
  useLayoutEffect(() => {
    if (isThere) takeOver()
  }, [isThere])
}

/** What was typed and pressed before, once. */
export function earlyInput(): Early {
  const was = early ?? NOTHING
  early = null
  return was
}
