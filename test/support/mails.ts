import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The emails that a world has written for an address, oldest first, each as its whole text with soft line breaks undone. */
export function mailsIn(folder: string, address: string): string[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(path.join(folder, name), 'utf8').replaceAll(/=\r?\n/g, ''))
    .filter((mail) => new RegExp(`^To:.*${address.replaceAll(/[.+]/g, '\\$&')}`, 'm').test(mail))
}

/** The token in the link of an email. */
export const tokenIn = (mail: string): string => /#token=(?:3D)?([\w-]{43})/.exec(mail)![1]!
