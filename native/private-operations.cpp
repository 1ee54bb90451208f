// See private-operations.h.
#include "private-operations.h"

#include <algorithm>
#include <stdexcept>

#include "threads.h"

namespace tandem {

namespace {

// Windows of the fixed-base tables: the widest that fit. A step to wider ones saves a quarter of an encryption, and
// takes as long as some 5,000 encryptions to build, so that it pays after about `countMin` of them. With windows of 12
// bits, the memory of a table costs more than its products save. Narrow to wide.
struct WindowStep {
  std::size_t bits;
  std::size_t countMin;
};
constexpr WindowStep kWindowSteps[] = {{8, 0}, {10, std::size_t{1} << 14}, {11, std::size_t{1} << 14}};
// Of a prime's table: 11 bits take 59 MiB with a 2048-bit key, and a 3072-bit key stays with 10, a longer one with 8.
constexpr std::size_t kTableBytesMax = std::size_t{108} << 20;

std::size_t windowBitsFor(std::size_t count, std::size_t primeBytes, std::size_t entryBytes) {
  std::size_t bits = kWindowSteps[0].bits;
  for (const WindowStep& step : kWindowSteps) {
    const std::size_t rows = (8 * primeBytes + step.bits - 1) / step.bits;
    if (count >= step.countMin && (rows << step.bits) * entryBytes <= kTableBytesMax) bits = std::max(bits, step.bits);
  }
  return bits;
}

Limbs loaded(const std::uint8_t* bytes, std::size_t sizeBytes, std::size_t limbs) {
  Limbs result(limbs);
  loadBytes(result.data(), limbs, bytes, sizeBytes);
  return result;
}

Limbs squared(const Modulus& prime) {
  Limbs square(2 * prime.limbs());
  squareFull(prime.rows(), square.data(), prime.value(), prime.limbs());
  return square;
}

Exponent orderOf(const std::uint8_t* prime, std::size_t primeBytes) {
  std::vector<std::uint8_t, WipingAllocator<std::uint8_t>> order(prime, prime + primeBytes);
  order[0] &= 0xfe;  // an odd prime minus one
  return Exponent(order.data(), primeBytes, ExponentKind::kSecret);
}

Limbs montgomery(const Modulus& modulus, const std::uint8_t* bytes, std::size_t sizeBytes) {
  Limbs result = loaded(bytes, sizeBytes, modulus.limbs());
  modulus.toMontgomery(result.data(), result.data());
  return result;
}

// A plain number below the ring's N^2 in all lanes of a group.
Words imported(const SquareRing& ring, const Limbs& value) {
  const Limb* values[kLanesMax];
  for (const Limb*& pointer : values) pointer = value.data();
  Words group(ring.words());
  ring.importPlain(group.data(), values);
  return group;
}

Words inAllLanes(const SquareRing& ring, const Limb* element) {
  const Limb* elements[kLanesMax];
  for (const Limb*& pointer : elements) pointer = element;
  Words group(ring.words());
  ring.gather(group.data(), elements);
  return group;
}

Limbs firstLane(const SquareRing& ring, const Words& group) {
  Limbs element(ring.elementLimbs());
  ring.extract(element.data(), group.data(), 0);
  return element;
}

Limbs residueBaseOf(const SquareRing& ring, const PrimeSideInput& input, std::size_t primeBytes) {
  Words group = imported(ring, loaded(input.generator, primeBytes, ring.elementLimbs()));
  power(ring, group.data(), group.data(), Exponent(input.prime, primeBytes, ExponentKind::kSecret));
  return firstLane(ring, group);
}

// Makes the plaintext factors of a side out of the other side's prime.
void setPlaintextGroups(PrimeSide& side, const Modulus& other) {
  const SquareRing& ring = *side.ring;
  Limbs value(ring.elementLimbs());
  copyLimbs(value.data(), other.value(), other.limbs());
  const Words radix = inAllLanes(ring, ring.rSquared());
  side.plaintextLow = imported(ring, value);
  ring.multiply(side.plaintextLow.data(), side.plaintextLow.data(), radix.data());
  side.plaintextHigh.resize(ring.words());
  ring.multiply(side.plaintextHigh.data(), side.plaintextLow.data(), radix.data());
}

}  // namespace

PrimeSide::PrimeSide(Kernel kernel, const PrimeSideInput& input, std::size_t primeBytes)
    : ring(SquareRing::create(kernel, loaded(input.prime, primeBytes, limbsForBytes(primeBytes)).data(),
                              limbsForBytes(primeBytes))),
      squareValue(squared(ring->modulus())),
      square(squareValue.data(), squareValue.size(), rowsOf(kernel)),
      order(orderOf(input.prime, primeBytes)),
      residueBase(residueBaseOf(*ring, input, primeBytes)),
      plaintextFactor(montgomery(ring->modulus(), input.plaintextFactor, primeBytes)) {}

PrivateContext::PrivateContext(Kernel kernel, const std::uint8_t* n, std::size_t nBytes, const PrimeSideInput& p,
                               const PrimeSideInput& q, std::size_t primeBytes, const std::uint8_t* qInverse,
                               const std::uint8_t* qSquaredInverse)
    : primeBytes_(primeBytes),
      public_(kernel, n, nBytes),
      p_(kernel, p, primeBytes),
      q_(kernel, q, primeBytes),
      qInverse_(montgomery(p_.prime(), qInverse, primeBytes)),
      qSquaredInverse_(loaded(qSquaredInverse, 2 * primeBytes, p_.squareValue.size())) {
  if (p_.ring->words() != q_.ring->words()) throw std::invalid_argument("both primes have as many bits");
  // p's side of decryption directly yields m q^-1 modulo p, which Garner's recombination starts from.
  p_.prime().product(p_.plaintextFactor.data(), p_.plaintextFactor.data(), qInverse_.data());
  setPlaintextGroups(p_, q_.prime());
  setPlaintextGroups(q_, p_.prime());
  const std::size_t size = p_.squareValue.size();
  Limbs factor(size);
  subtractLimbs(factor.data(), p_.squareValue.data(), qSquaredInverse_.data(), size);
  recombineLow_ = imported(*p_.ring, factor);
  Limbs other(size);
  copyLimbs(other.data(), q_.prime().value(), q_.prime().limbs());
  p_.square.toMontgomery(factor.data(), factor.data());
  p_.square.product(factor.data(), factor.data(), other.data());
  recombineHigh_ = imported(*p_.ring, factor);
}

std::shared_ptr<const PrivateContext::Tables> PrivateContext::tablesFor(std::size_t count, std::size_t threads) {
  const std::lock_guard<std::mutex> lock(tablesMutex_);
  encryptionCount_ += count;
  const std::size_t windowBits = windowBitsFor(encryptionCount_, primeBytes_, p_.ring->tableEntryBytes());
  if (windowBits != tablesWindowBits_) {
    tables_ = buildTables(windowBits, threads);
    tablesWindowBits_ = windowBits;
  }
  return tables_;
}

std::shared_ptr<const PrivateContext::Tables> PrivateContext::buildTables(std::size_t windowBits,
                                                                          std::size_t threads) const {
  auto tables = std::make_shared<Tables>();
  // Powers come out as plain pairs if the tables are divided by R once: by a factor whose pair is plain. On p's side it
  // is (q^2)^-1, which recombination wants, otherwise 1. The inverses of those elements are q^2 R and R.
  const std::size_t size = p_.squareValue.size();
  Limbs plainOne(size);
  plainOne[0] = 1;
  tables->q = std::make_unique<FixedBaseTable>(*q_.ring, q_.residueBase.data(), plainOne.data(), q_.ring->rSquared(),
                                               primeBytes_, windowBits, threads);
  const SquareRing& ring = *p_.ring;
  Limbs factor(size);
  Limb* const target[kLanesMax] = {factor.data()};
  ring.exportPlain(target, imported(ring, qSquaredInverse_).data());
  Limbs qSquared(size);
  p_.square.remainderWide(qSquared.data(), q_.squareValue.data(), size);
  Words factorInverse = imported(ring, qSquared);
  const Words radix = inAllLanes(ring, ring.rSquared());
  ring.multiply(factorInverse.data(), factorInverse.data(), radix.data());
  tables->p = std::make_unique<FixedBaseTable>(ring, p_.residueBase.data(), factor.data(),
                                               firstLane(ring, factorInverse).data(), primeBytes_, windowBits, threads);
  return tables;
}

void PrivateContext::encryptSide(const PrimeSide& side, const FixedBaseTable& table, const Limb* const* plaintexts,
                                 const std::uint8_t* const* exponents, std::size_t exponentBytes, Words& group) const {
  const SquareRing& ring = *side.ring;
  const std::size_t limbs = ring.limbs();
  const std::size_t half = ring.words() / 2;
  Words logarithm(ring.words());
  Words plaintext(ring.words());
  Limbs sums(ring.lanes() * (limbs + 1));
  Limb* sumPointers[kLanesMax] = {nullptr};
  const Limb* sources[kLanesMax] = {nullptr};
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (exponents[lane] == nullptr) continue;
    sumPointers[lane] = &sums[lane * (limbs + 1)];
    sources[lane] = sumPointers[lane];
  }
  table.powers(group.data(), sumPointers, exponents, exponentBytes);
  // L = sum of logarithms + m (other prime), all times R; then (a + b p)(1 + p L) = a + p (b + a L).
  ring.loadHalf(logarithm.data(), sources);
  ring.split(plaintext.data(), plaintexts, public_.limbsOfN);
  ring.multiplyHalves(plaintext.data(), plaintext.data(), side.plaintextLow.data());
  ring.multiplyHalves(&plaintext[half], &plaintext[half], side.plaintextHigh.data());
  ring.addHalves(logarithm.data(), logarithm.data(), plaintext.data());
  ring.addHalves(logarithm.data(), logarithm.data(), &plaintext[half]);
  ring.multiplyHalves(logarithm.data(), logarithm.data(), group.data());
  ring.addHalves(&group[half], &group[half], logarithm.data());
}

long long PrivateContext::encrypt(FlatInput plaintexts, FlatInput exponentsP, FlatInput exponentsQ,
                                  std::uint8_t* result, std::size_t resultBytes, std::size_t threads) {
  const std::shared_ptr<const Tables> tables = tablesFor(plaintexts.count, threads);
  const std::size_t size = p_.ring->elementLimbs();
  const std::size_t limbsOfN = public_.limbsOfN;
  FirstBad bad;
  const std::size_t chunk = laneChunk(plaintexts.count, p_.ring->lanes());
  parallelChunks(plaintexts.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t lanes = end - begin;
    Words groupP(p_.ring->words());
    Words groupQ(q_.ring->words());
    Limbs ciphertexts(2 * lanes * size);
    Limbs values(lanes * limbsOfN);
    Limbs difference(limbsOfN);
    Limb* results[kLanesMax] = {nullptr};
    const Limb* sources[kLanesMax] = {nullptr};
    const std::uint8_t* digitsP[kLanesMax] = {nullptr};
    const std::uint8_t* digitsQ[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      const std::size_t i = begin + lane;
      Limb* value = &values[lane * limbsOfN];
      loadBytes(value, limbsOfN, plaintexts.element(i), plaintexts.sizeBytes);
      if (subtractLimbs(difference.data(), value, public_.n.data(), limbsOfN) == 0) return bad.report(i);
      sources[lane] = value;
      results[lane] = &ciphertexts[2 * lane * size];
      digitsP[lane] = exponentsP.element(i);
      digitsQ[lane] = exponentsQ.element(i);
    }
    encryptSide(p_, *tables->p, sources, digitsP, exponentsP.sizeBytes, groupP);
    encryptSide(q_, *tables->q, sources, digitsQ, exponentsQ.sizeBytes, groupQ);
    assemble(groupP, groupQ, results);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      storeBytes(result + (begin + lane) * resultBytes, resultBytes, results[lane]);
    }
  });
  return bad.index();
}

void PrivateContext::assemble(Words& groupP, Words& groupQ, Limb* const* ciphertexts) const {
  const SquareRing& p = *p_.ring;
  const SquareRing& q = *q_.ring;
  const std::size_t half = p.words() / 2;
  // Garner: x = x_q + q^2 ((x_p - x_q) (q^2)^-1 mod p^2); p's side comes already multiplied by the inverse.
  q.reduce(groupQ.data());
  Words term(p.words());
  p.multiplyByHalf(term.data(), recombineLow_.data(), groupQ.data());
  p.addPairs(groupP.data(), groupP.data(), term.data());
  p.multiplyByHalf(term.data(), recombineHigh_.data(), &groupQ[half]);
  p.addPairs(groupP.data(), groupP.data(), term.data());
  p.reduce(groupP.data());
  // With x_q = a + b q and a quotient of c + d p: x = a + q (b + q (c + p d)).
  Words inner(2 * half);
  Words middle(3 * half);
  Words outer(4 * half);
  p.timesModulus(inner.data(), &groupP[half], half, groupP.data());
  q.timesModulus(middle.data(), inner.data(), 2 * half, &groupQ[half]);
  q.timesModulus(outer.data(), middle.data(), 3 * half, groupQ.data());
  q.store(ciphertexts, 2 * p_.squareValue.size(), outer.data(), 4 * half);
}

void PrivateContext::decryptSide(const PrimeSide& side, const Limb* const* ciphertexts, Limb* const* results,
                                 bool* refused) const {
  const SquareRing& ring = *side.ring;
  const std::size_t size = ring.elementLimbs();
  const std::size_t primeLimbs = ring.limbs();
  Limbs values(ring.lanes() * size);
  const Limb* sources[kLanesMax] = {nullptr};
  Limb* targets[kLanesMax] = {nullptr};
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (ciphertexts[lane] == nullptr) continue;
    targets[lane] = &values[lane * size];
    sources[lane] = targets[lane];
    side.square.remainderWide(targets[lane], ciphertexts[lane], public_.elementLimbs());
  }
  Words group(ring.words());
  ring.importPlain(group.data(), sources);
  power(ring, group.data(), group.data(), side.order);
  ring.exportPlain(targets, group.data());
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (ciphertexts[lane] == nullptr) continue;
    // By Fermat the power is 1 modulo the prime, unless the ciphertext is a multiple of it; then it is 0.
    if (zeroMask(targets[lane], primeLimbs) != 0) refused[lane] = true;
    side.prime().product(results[lane], targets[lane] + primeLimbs, side.plaintextFactor.data());
  }
}

long long PrivateContext::decrypt(FlatInput ciphertexts, std::uint8_t* result, std::size_t resultBytes,
                                  std::size_t threads) const {
  const std::size_t wide = public_.elementLimbs();
  const std::size_t primeLimbs = p_.prime().limbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(ciphertexts.count, p_.ring->lanes());
  parallelChunks(ciphertexts.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t lanes = end - begin;
    Limbs values(lanes * wide);
    Limbs residues(2 * kLanesMax * primeLimbs);
    Limbs plaintext(2 * primeLimbs);
    Limb* modP[kLanesMax] = {nullptr};
    Limb* modQ[kLanesMax] = {nullptr};
    const Limb* sources[kLanesMax] = {nullptr};
    bool refused[kLanesMax] = {false};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      Limb* value = &values[lane * wide];
      loadBytes(value, wide, ciphertexts.element(begin + lane), ciphertexts.sizeBytes);
      if (isZero(value, wide) || compare(value, public_.nSquared.data(), wide) >= 0) refused[lane] = true;
      sources[lane] = value;
      modP[lane] = &residues[lane * primeLimbs];
      modQ[lane] = &residues[(kLanesMax + lane) * primeLimbs];
    }
    decryptSide(p_, sources, modP, refused);
    decryptSide(q_, sources, modQ, refused);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if (refused[lane]) return bad.report(begin + lane);
      // Garner: m = m_q + q ((m_p - m_q) q^-1 mod p); modP holds m_p q^-1.
      Limb quotient[kLimbsMax];
      p_.prime().product(quotient, modQ[lane], qInverse_.data());
      p_.prime().subtract(quotient, modP[lane], quotient);
      Limb* value = plaintext.data();
      multiplyFull(p_.prime().rows(), value, quotient, q_.prime().value(), primeLimbs);
      addSmall(value + primeLimbs, addLimbs(value, value, modQ[lane], primeLimbs), primeLimbs);
      storeBytes(result + (begin + lane) * resultBytes, resultBytes, plaintext.data());
      wipe(quotient, sizeof quotient);
    }
  });
  return bad.index();
}

void PrivateContext::rootSide(const PrimeSide& side, const Exponent& exponent, const Limb* const* values,
                              Limb* const* results) const {
  const SquareRing& ring = *side.ring;
  const std::size_t size = ring.elementLimbs();
  Limbs pairs(ring.lanes() * size);
  const Limb* sources[kLanesMax] = {nullptr};
  Limb* targets[kLanesMax] = {nullptr};
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (values[lane] == nullptr) continue;
    targets[lane] = &pairs[lane * size];
    sources[lane] = targets[lane];
    side.square.remainderWide(targets[lane], values[lane], public_.limbsOfN);
  }
  Words group(ring.words());
  ring.importPlain(group.data(), sources);
  power(ring, group.data(), group.data(), exponent);
  ring.exportPlain(targets, group.data());
  // A pair's first half is the power modulo the prime.
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (values[lane] != nullptr) copyLimbs(results[lane], targets[lane], ring.limbs());
  }
}

long long PrivateContext::nthRoots(FlatInput values, const Exponent& exponentP, const Exponent& exponentQ,
                                   std::uint8_t* result, std::size_t resultBytes, std::size_t threads) const {
  const std::size_t limbsOfN = public_.limbsOfN;
  const std::size_t primeLimbs = p_.prime().limbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(values.count, p_.ring->lanes());
  parallelChunks(values.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t lanes = end - begin;
    Limbs numbers(lanes * limbsOfN);
    Limbs residues(2 * kLanesMax * primeLimbs);
    Limbs quotient(primeLimbs);
    Limbs root(2 * primeLimbs);
    Limb* modP[kLanesMax] = {nullptr};
    Limb* modQ[kLanesMax] = {nullptr};
    const Limb* sources[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      Limb* number = &numbers[lane * limbsOfN];
      loadBytes(number, limbsOfN, values.element(begin + lane), values.sizeBytes);
      if (compare(number, public_.n.data(), limbsOfN) >= 0) return bad.report(begin + lane);
      sources[lane] = number;
      modP[lane] = &residues[lane * primeLimbs];
      modQ[lane] = &residues[(kLanesMax + lane) * primeLimbs];
    }
    rootSide(p_, exponentP, sources, modP);
    rootSide(q_, exponentQ, sources, modQ);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      // Garner: x = x_q + q ((x_p - x_q) q^-1 mod p).
      p_.prime().product(quotient.data(), modQ[lane], qInverse_.data());
      p_.prime().product(modP[lane], modP[lane], qInverse_.data());
      p_.prime().subtract(quotient.data(), modP[lane], quotient.data());
      multiplyFull(p_.prime().rows(), root.data(), quotient.data(), q_.prime().value(), primeLimbs);
      addSmall(root.data() + primeLimbs, addLimbs(root.data(), root.data(), modQ[lane], primeLimbs), primeLimbs);
      storeBytes(result + (begin + lane) * resultBytes, resultBytes, root.data());
    }
  });
  return bad.index();
}

}  // namespace tandem
