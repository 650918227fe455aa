/** The page that is shown before the console runs (index.html). The console replaces it and takes over what was typed and pressed there. */
import { useLayoutEffect } from 'react'

interface EarlyInput {
  email: string
  password: string
  /** The field with the focus. */
  focused: 'username' | 'current-password' | null
  pressed: 'sign-in' | 'demo' | 'show' | null
}

/** What the page recorded, as text. */
interface FirstPage {
  email: string
  password: string
  focused: string | undefined
  pressed: string | undefined
  /** The browser would send the form. */
  isValid: boolean
}

const NOTHING: EarlyInput = { email: '', password: '', focused: null, pressed: null }
let early: EarlyInput | null = null

const FIELDS = ['username', 'current-password'] as const
const BUTTONS = ['sign-in', 'demo', 'show'] as const

/** Signing in is continued only with a valid form: otherwise the user still has to complete it. */
export function earlyInputOf({ email, password, focused, pressed, isValid }: FirstPage): EarlyInput {
  const button = BUTTONS.find((name) => name === pressed) ?? null
  return {
    email,
    password,
    focused: FIELDS.find((name) => name === focused) ?? null,
    pressed: button === 'sign-in' && !isValid ? null : button,
  }
}

function takeOver(): void {
  const first = document.getElementById('first')
  if (!first) return
  const textOf = (name: string) => first.querySelector<HTMLInputElement>(`input[autocomplete='${name}']`)?.value ?? ''
  early = earlyInputOf({
    email: textOf('username'),
    password: textOf('current-password'),
    // Recorded by the page: by now the console's own first field has the focus.
    focused: first.dataset['focused'],
    pressed: first.dataset['pressed'],
    isValid: first.querySelector('form')?.checkValidity() ?? false,
  })
  first.remove()
}

export const isFirstSeen = () => document.getElementById('first') !== null

/** For components that replace the first page. `isReady` is false while there is nothing to show yet. */
export function useTakeOver(isReady = true): void {
  useLayoutEffect(() => {
    if (isReady) takeOver()
  }, [isReady])
}

/** What was typed and pressed on the first page. Only the first call returns it. */
export function takeEarlyInput(): EarlyInput {
  const input = early ?? NOTHING
  early = null
  return input
}
