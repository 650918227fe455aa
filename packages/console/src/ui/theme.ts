/** Light or dark: kept in this browser, else as the system has it. The page's first script decides before anything is drawn. */
import { createStore } from '../store.ts'

type Theme = 'light' | 'dark'

const page = document.documentElement.dataset
const asTheme = (text: string | undefined): Theme => (text === 'dark' ? 'dark' : 'light')
const theme = createStore(asTheme(page['theme']), { key: 'gt-theme', read: asTheme, write: String })

export const currentTheme = theme.get
export const onTheme = theme.subscribe
export const useTheme = theme.use

export function setTheme(next: Theme): void {
  page['theme'] = next
  theme.set(next)
}
