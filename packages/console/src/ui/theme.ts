/** Light or dark: kept in this browser, else as the system has it. */
import { useSyncExternalStore } from 'react'

type Theme = 'light' | 'dark'
const listeners = new Set<() => void>()

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light')

export function setTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
  document.documentElement.dataset['mantineColorScheme'] = theme
  localStorage.setItem('gt-theme', theme)
  for (const listener of listeners) listener()
}

export function onTheme(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useTheme = () => useSyncExternalStore(onTheme, currentTheme)
