/** Organizations, theme, help and signing out. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { queries, useMe } from '../api/query.ts'
import { chooseOrganization, signOut } from '../api/session.ts'
import { useWho } from '../state/who.ts'
import { initials } from '../ui/format.ts'
import { Menu, MenuDivider, MenuItem, MenuLabel } from '../ui/menu.tsx'
import { setTheme, useTheme } from '../ui/theme.ts'
import { toast } from '../ui/toasts.tsx'
import ui from '../ui/ui.module.css'
import type { Overlay } from './overlay.ts'

export function AccountMenu({ open }: { open(overlay: Overlay): void }): ReactElement {
  const who = useWho()
  const me = useMe()
  const theme = useTheme()
  const navigate = useNavigate()
  const change = async (id: string, name: string) => {
    await chooseOrganization(id)
    queries.clear()
    toast(`Switched to ${name}`)
    await navigate({ to: '/explore' })
  }
  const leave = async () => {
    await signOut()
    queries.clear()
  }
  const short = initials(who.name || '?')
  return (
    <Menu
      label="Account"
      align="end"
      button={(trigger) => (
        <button {...trigger} type="button" className={ui.avatar} aria-label={`${short}, account of ${who.name}`}>
          <span aria-hidden="true">{short}</span>
        </button>
      )}
    >
      <MenuLabel>
        <b>{who.name}</b>
        <br />
        {who.email}
      </MenuLabel>
      {(me.data?.organizations ?? []).map(({ id, name, role }) => (
        <MenuItem
          key={id}
          icon={id === who.organizationId ? 'check' : 'users'}
          onClick={() => void (id === who.organizationId ? navigate({ to: '/team/organization' }) : change(id, name))}
        >
          {name}, {role}
        </MenuItem>
      ))}
      <MenuDivider />
      <MenuItem icon="lock" onClick={() => void navigate({ to: '/account' })}>
        Account settings
      </MenuItem>
      <MenuItem icon={theme === 'dark' ? 'sun' : 'moon'} onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
        {theme === 'dark' ? 'Light theme' : 'Dark theme'}
      </MenuItem>
      <MenuItem icon="code" onClick={() => open('api')}>
        Show API calls
      </MenuItem>
      <MenuItem icon="help" onClick={() => open('keys')}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon="home" onClick={() => void navigate({ to: '/welcome' })}>
        First steps
      </MenuItem>
      <MenuDivider />
      <MenuItem icon="right" onClick={() => void leave()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
