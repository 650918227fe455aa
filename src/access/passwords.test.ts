// Goal: a password of nobody is compared with a hash of the same cost as everybody's, so that the time of an answer tells nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import bcrypt from 'bcrypt'
import { nobodysHash } from './passwords.ts'

for (const cost of [4, 10, 12])
  test(`a hash that nobody has, of cost ${cost}`, () => {
    const real = bcrypt.hashSync('secret', cost)
    assert.equal(nobodysHash(cost).length, real.length)
    assert.match(nobodysHash(cost), /^\$2b\$\d\d\$[./A-Za-z0-9]{53}$/)
    assert.equal(bcrypt.getRounds(nobodysHash(cost)), cost)
  })
